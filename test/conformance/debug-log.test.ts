/** What `log.level: debug` writes of a request: targets and attempts, and nothing that the request or an upstream said. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testKey } from '../support/gateways/rig.ts';
import { answering, refusingWith, startSeveral } from '../support/gateways/several.ts';

test('at level debug each chosen target and outcome is logged, without bodies, headers or secrets', async (t) => {
  const setup = await startSeveral(t, [refusingWith(500), answering('b')], { more: { log: { level: 'debug' } } });
  const { rig } = setup;
  const answer = await rig.post(
    '/v1/embeddings',
    { model: 'm', input: 'canary-of-the-body' },
    {
      headers: [
        ['Authorization', `Bearer ${testKey}`],
        ['Content-Type', 'application/json'],
        ['X-Canary', 'canary-of-a-header'],
      ],
    },
  );
  assert.equal(answer.status, 200);
  const { id } = await rig.exchange(1);
  const [first, second] = (await rig.exchange(1)).tries;
  assert.ok(first?.startMs !== undefined && second?.startMs !== undefined);
  // The second began when the first was over.
  assert.ok(first.startMs >= 0 && second.startMs >= first.startMs + first.durationMs);
  assert.deepEqual(
    rig.steps.map(({ message, fields }) => [message, fields.id, fields.upstream, fields.outcome, fields.detail]),
    [
      ['target chosen', id, first.upstream, undefined, undefined],
      ['upstream attempt ended', id, first.upstream, 'failed', 500],
      ['target chosen', id, second.upstream, undefined, undefined],
      ['upstream attempt ended', id, second.upstream, 'answered', 200],
    ],
  );
  const written = JSON.stringify(rig.steps);
  for (const hidden of ['canary', testKey, 'sk-credential-of', 'no 500']) assert.ok(!written.includes(hidden), hidden);
});

test('at level debug it is logged if no target is left; at info no step is', async (t) => {
  const setup = await startSeveral(t, [refusingWith(501)], { more: { log: { level: 'debug' } } });
  assert.equal((await setup.embed()).status, 501);
  assert.deepEqual(
    setup.rig.steps.map(({ message }) => message),
    ['target chosen', 'upstream attempt ended', 'no target left to try'],
  );
  const quiet = await startSeveral(t, [answering('a')]);
  assert.equal((await quiet.embed()).status, 200);
  assert.deepEqual(quiet.rig.steps, []);
});
