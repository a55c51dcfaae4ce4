import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type LoadedConfiguration, loadConfiguration } from '../config/load.ts';
import { families } from '../families/index.ts';
import { openStore } from '../store/open-store.ts';
import { createReloadHistory } from './reload-history.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const upstream = (url: string) => ({ id: 'near', family: 'openai', base_url: url, api_key: 'sk-0123456789' });

async function rig(t: TestContext) {
  const cwd = await mkdtemp(join(tmpdir(), 'postern-history-'));
  t.after(() => rm(cwd, { recursive: true, force: true }));
  const file = join(cwd, 'postern.yaml');
  const load = async (document: object) => {
    await writeFile(file, JSON.stringify(document));
    const loaded = await loadConfiguration({ configPath: file, env: {}, cwd, families });
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.faults));
    return loaded;
  };
  const store = await openStore('sqlite::memory:', { cwd });
  t.after(() => store.close());
  const first = await load({ upstreams: [upstream('http://one.example')] });
  const open = () => createReloadHistory({ store, loaded: first, log, nowMs: () => Date.UTC(2027, 0, 1) });
  const entries = async (count: number) => {
    for (;;) {
      const found = await store.audit.page({ limit: 10 });
      if (found.length >= count) return found;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  return { load, open, entries, file };
}

test('a change that all nodes apply is one audit log entry, with the differences and without secrets', async (t) => {
  const { load, open, entries, file } = await rig(t);
  const [one, other] = [open(), open()];
  const next = await load({
    upstreams: [upstream('http://two.example')],
    keys: [{ id: 'dev', secret: 'x'.repeat(24) }],
  });
  one.swapped(next);
  other.swapped(next);
  // Nothing has changed in the file, as after a change in the store.
  one.swapped(
    await load({ upstreams: [upstream('http://two.example')], keys: [{ id: 'dev', secret: 'x'.repeat(24) }] }),
  );
  one.swapped(await load({ upstreams: [], models: [] }));
  const found = await entries(2);
  assert.equal(found.length, 2);
  const [last, first] = found;
  assert.deepEqual([first?.actor, first?.action, first?.subject], ['configuration file', 'configuration.reload', file]);
  const before = first?.before as Record<string, Record<string, unknown>>;
  const after = first?.after as Record<string, Record<string, unknown>>;
  assert.equal(before['upstream near']?.base_url, 'http://one.example');
  assert.deepEqual(
    [after['upstream near']?.base_url, after['upstream near']?.api_key],
    ['http://two.example', '(sealed)'],
  );
  assert.deepEqual([before['key dev'], after['key dev']], [null, { id: 'dev' }]);
  assert.deepEqual(
    Object.entries(last?.after ?? {}).find(([name]) => name === 'upstream near'),
    ['upstream near', null],
  );
});

test('a configuration that is overwritten and restored has an audit log entry for each change', async (t) => {
  const { load, open, entries } = await rig(t);
  const nodes = [open(), open()];
  const swap = (next: LoadedConfiguration): void => {
    for (const node of nodes) node.swapped(next);
  };
  const two = await load({ upstreams: [upstream('http://two.example')] });
  // The file has the third content already when the second one is applied.
  const three = await load({ upstreams: [upstream('http://three.example')] });
  swap(two);
  swap(three);
  swap(two);
  swap(three);
  const found = await entries(4);
  const hosts = found.map(
    ({ after }) => new URL((after as Record<string, { base_url: string }>)['upstream near']?.base_url ?? '').hostname,
  );
  // Two nodes may write entries at once: their order is not checked.
  assert.deepEqual(hosts.sort(), ['three.example', 'three.example', 'two.example', 'two.example']);
});

test('a refused configuration change is reported with file, line and reason until it is fixed', async (t) => {
  const { open, file } = await rig(t);
  const history = open();
  assert.equal(history.refused(), undefined);
  history.reloaded([{ path: 'keyz', line: 7, message: 'unknown key' }]);
  assert.deepEqual(history.refused(), {
    atMs: Date.UTC(2027, 0, 1),
    faults: [{ file, line: 7, message: 'keyz: unknown key' }],
  });
  history.reloaded(undefined);
  assert.equal(history.refused(), undefined);
});
