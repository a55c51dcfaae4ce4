/** Conformance tests of every store: alerts. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StoredAlert } from '../../../src/core/store/alerts.ts';
import { hostileTexts, toStored } from '../json/hostile-texts.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import type { OpenStore } from './store-writes.ts';

const startMs = Date.UTC(2027, 0, 1);

const alertOf = (id: string, more: Partial<StoredAlert> = {}): StoredAlert => ({
  id,
  rule: 'error_rate',
  kind: 'gateway',
  subject: '',
  severity: 'bad',
  cause: 'It is so',
  explore: { by: 'model' },
  openedAtMs: startMs,
  closedAtMs: undefined,
  silencedUntilMs: undefined,
  untold: ['opened:slack-1'],
  ...more,
});

export function describeAlertStore(name: string, openStore: OpenStore): void {
  describe(name, () => {
    test('an alert is read as written, and as changed', async (t) => {
      const { alerts } = await openStore(t, createFakeClock(startMs));
      await alerts.put(alertOf('a1'));
      assert.deepEqual(await alerts.get('a1'), alertOf('a1'));
      assert.deepEqual(await alerts.untold(), [alertOf('a1')]);
      const changed = alertOf('a1', {
        closedAtMs: startMs + 5,
        silencedUntilMs: startMs + 9,
        untold: [],
        explore: undefined,
      });
      await alerts.put(changed);
      assert.deepEqual([await alerts.get('a1'), await alerts.untold()], [changed, []]);
      assert.equal(await alerts.get('none'), undefined);
      for (const [index, text] of hostileTexts.entries()) {
        await alerts.put(alertOf(`h${index}`, { subject: text, cause: text }));
        assert.deepEqual(
          await alerts.get(`h${index}`),
          alertOf(`h${index}`, { subject: toStored(text), cause: toStored(text) }),
        );
      }
    });

    test('pages are newest first, open and closed separately; old closed ones are deleted', async (t) => {
      const { alerts } = await openStore(t, createFakeClock(startMs));
      for (const id of ['a1', 'a2', 'a3', 'a4']) {
        await alerts.put(alertOf(id, { closedAtMs: id < 'a3' ? startMs + Number(id.at(1)) : undefined }));
      }
      const idsOf = async (options: Parameters<typeof alerts.page>[0]) =>
        (await alerts.page(options)).map(({ id }) => id);
      assert.deepEqual(await idsOf({ limit: 3 }), ['a4', 'a3', 'a2']);
      assert.deepEqual(await idsOf({ limit: 3, before: 'a2' }), ['a1']);
      assert.deepEqual(await idsOf({ limit: 9, isOpen: true }), ['a4', 'a3']);
      assert.deepEqual(await idsOf({ limit: 9, isOpen: false }), ['a2', 'a1']);
      await alerts.prune(startMs + 2);
      assert.deepEqual(await idsOf({ limit: 9 }), ['a4', 'a3', 'a2']);
    });

    test('of many nodes one has the lease, until it expires or is released', async (t) => {
      const clock = createFakeClock(startMs);
      const { alerts } = await openStore(t, clock);
      const nodes = ['n1', 'n2', 'n3', 'n4'];
      const ask = (untilMs: number) => Promise.all(nodes.map((node) => alerts.lease(node, untilMs)));
      const first = await ask(startMs + 90);
      assert.equal(first.filter(Boolean).length, 1);
      assert.deepEqual(await ask(startMs + 95), first);
      clock.advance(96);
      const other = nodes.find((_, index) => first[index] === false) ?? '';
      assert.equal(await alerts.lease(other, startMs + 200), true);
      assert.deepEqual(
        await ask(startMs + 200),
        nodes.map((node) => node === other),
      );
    });
  });
}
