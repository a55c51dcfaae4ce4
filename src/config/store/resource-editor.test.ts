import assert from 'node:assert/strict';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openAdmin } from '../../../test/support/console/admin.ts';

const actor = 'test';
const secret = 'sk-canary-4471';
const upstream = { family: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: secret };
const model = { operations: ['embeddings'], targets: [{ upstream: 'two', model: 'm' }] };

async function openEditor(t: TestContext, options: Parameters<typeof openAdmin>[1] = {}) {
  const admin = await openAdmin(t, options);
  return { ...admin, resources: admin.context.resources };
}

const env = { POSTERN_SECRET_KEY: 'ab'.repeat(32) };

test('an upstream is stored encrypted and shown with a masked secret, and saving it masked keeps the secret', async (t) => {
  const { resources, store, follow } = await openEditor(t, { env });
  assert.deepEqual(await resources.put('upstream', 'two', upstream, { expected: 0, actor }), {
    outcome: 'created',
    version: 1,
    warnings: [],
  });
  const [stored] = await store.resources.list();
  assert.equal(JSON.stringify(stored).includes(secret), false);
  const shown = await resources.get('upstream', 'two');
  assert.equal(shown?.document.api_key, '(sealed)');
  assert.deepEqual([shown?.managedBy, shown?.version, shown?.inForce], ['store', 1, false]);
  await follow();
  assert.equal((await resources.get('upstream', 'two'))?.inForce, true);

  const again = await resources.put('upstream', 'two', shown?.document ?? {}, { expected: 1, actor });
  assert.equal(again.outcome, 'unchanged');
  const moved = { ...shown?.document, base_url: 'http://127.0.0.1:8/v1' };
  assert.equal((await resources.put('upstream', 'two', moved, { expected: 1, actor })).outcome, 'changed');
  assert.equal((await store.resources.get('upstream', 'two'))?.document.api_key, stored?.document.api_key);
});

test('faults of a resource give the path within it, and nothing is written', async (t) => {
  const { resources, store } = await openEditor(t, { env });
  const put = await resources.put(
    'model',
    'm',
    { targets: [{ upstream: 'one' }, { upstream: 'none', wieght: 2 }], visible: 'yes' },
    { expected: 0, actor },
  );
  assert.equal(put.outcome, 'faulty');
  const paths = put.outcome === 'faulty' ? put.faults.map(({ path }) => path) : [];
  assert.deepEqual(paths.toSorted(), ['targets[0].upstream', 'targets[1].upstream', 'targets[1].wieght', 'visible']);
  assert.deepEqual(await store.resources.list(), []);
});

test('elements of the configuration file are shown with line and variable names, and cannot be overwritten', async (t) => {
  const { resources, cwd } = await openEditor(t, {
    env: { ...env, ONE_KEY: 'sk-from-the-environment' },
    configuration: {
      upstreams: [
        { id: 'one', family: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: `\${ONE_KEY}` },
        { id: 'lit', family: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: secret },
        { id: 'fallback', family: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: `\${ONE_KEY:-${secret}}` },
      ],
    },
  });
  const one = await resources.get('upstream', 'one');
  assert.equal(one?.document.api_key, `\${ONE_KEY}`);
  assert.deepEqual(one?.place, { file: join(cwd, 'postern.yaml'), line: 1 });
  const all = JSON.stringify(await resources.list('upstream'));
  assert.equal(all.includes(secret), false);
  assert.equal(all.includes('sk-from-the-environment'), false);
  const put = await resources.put('upstream', 'one', upstream, { expected: 0, actor });
  assert.equal(put.outcome, 'managed-elsewhere');
  assert.equal((await resources.remove('upstream', 'one', { actor })).outcome, 'managed-elsewhere');
});

test('the second of two edits of the same version is a conflict, which names the editor of the first', async (t) => {
  const { resources } = await openEditor(t, { env });
  await resources.put('project', 'p', { name: 'A' }, { expected: 0, actor: 'console: ann' });
  await resources.put('project', 'p', { name: 'B' }, { expected: 1, actor: 'console: ann' });
  const late = await resources.put('project', 'p', { name: 'C' }, { expected: 1, actor: 'console: bob' });
  assert.equal(late.outcome, 'conflict');
  assert.equal(late.outcome === 'conflict' && late.by?.actor, 'console: ann');
  assert.equal((await resources.get('project', 'p'))?.document.name, 'B');
  assert.equal((await resources.put('project', 'p', { name: 'D' }, { expected: 0, actor })).outcome, 'conflict');
});

test('an element in use cannot be deleted, and the elements that use it are named', async (t) => {
  const { resources, store } = await openEditor(t, { env });
  await resources.put('upstream', 'two', upstream, { expected: 0, actor });
  await resources.put('model', 'm', model, { expected: 0, actor });
  const removed = await resources.remove('upstream', 'two', { expected: 1, actor });
  assert.equal(removed.outcome, 'needed');
  assert.match(
    removed.outcome === 'needed' ? removed.reasons.join() : '',
    /the model "m": targets\[0\]\.upstream unknown upstream/,
  );

  await resources.put('project', 'p', {}, { expected: 0, actor });
  await store.keys.create({ name: 'k', digest: 'd'.repeat(64), hint: 'pk', models: ['*'], project: 'p' });
  const project = await resources.remove('project', 'p', { actor });
  assert.match(project.outcome === 'needed' ? project.reasons.join() : '', /it has keys/);
  assert.equal((await resources.remove('model', 'm', { actor })).outcome, 'removed');
  assert.equal((await resources.remove('model', 'm', { actor })).outcome, 'absent');
});

test('the second of two simultaneous writes that contradict each other is refused', async (t) => {
  const { resources, store } = await openEditor(t, { env });
  await resources.put('upstream', 'two', upstream, { expected: 0, actor });
  const document = { operations: ['embeddings'], targets: [{ upstream: 'two' }] };
  const [removed, put] = await Promise.all([
    resources.remove('upstream', 'two', { actor }),
    resources.put('model', 'm', document, { expected: 0, actor }),
  ]);
  assert.deepEqual([removed.outcome, put.outcome], ['removed', 'faulty']);
  assert.deepEqual(await store.resources.list(), []);
});

test('the second of two simultaneous writes for the same version is a conflict', async (t) => {
  const { resources, store } = await openEditor(t, { env });
  await resources.put('project', 'p', {}, { expected: 0, actor });
  const puts = await Promise.all(
    ['first', 'second'].map((name) => resources.put('project', 'p', { name }, { expected: 1, actor })),
  );
  assert.deepEqual(
    puts.map(({ outcome }) => outcome),
    ['changed', 'conflict'],
  );
  assert.equal((await store.resources.get('project', 'p'))?.document.name, 'first');
});

test('without a secret key, storing the first secret creates a key file beside the database for this user only', async (t) => {
  const { resources, cwd, store, follow } = await openEditor(t, { configuration: { store: 'sqlite:data/postern.db' } });
  const file = join(cwd, 'data', 'secret.key');
  await mkdir(join(cwd, 'data'));
  assert.equal((await resources.preview('upstream', 'two', upstream)).outcome, 'fine');
  await assert.rejects(stat(file), { code: 'ENOENT' });
  const put = await resources.put('upstream', 'two', upstream, { expected: 0, actor });
  assert.equal(put.outcome, 'created');
  assert.match(put.outcome === 'created' ? put.warnings.join() : '', /was made at .*secret\.key: keep a copy/);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const key = (await readFile(file, 'utf8')).trim();
  assert.match(key, /^[0-9a-f]{64}$/);
  assert.equal(JSON.stringify(await store.resources.list()).includes(key), false);
  await follow();
  const second = await resources.put('upstream', 'three', upstream, { expected: 0, actor });
  assert.deepEqual(second.outcome === 'created' && second.warnings, []);
  assert.equal((await readFile(file, 'utf8')).trim(), key);
});

test('for a shared database no secret key is generated, and the fault tells how to set one', async (t) => {
  const { resources } = await openEditor(t);
  for (const judged of [
    await resources.preview('upstream', 'two', upstream),
    await resources.put('upstream', 'two', upstream, { expected: 0, actor }),
  ]) {
    assert.equal(judged.outcome, 'faulty');
    const [fault, ...others] = judged.outcome === 'faulty' ? judged.faults : [];
    assert.deepEqual(others, []);
    assert.equal(fault?.path, 'api_key');
    assert.match(fault?.message ?? '', /set POSTERN_SECRET_KEY .*openssl rand -hex 32/);
  }
});

test('built-in models are shown, and a stored model with the same ID replaces one', async (t) => {
  const { resources, follow } = await openEditor(t, {
    configuration: { upstreams: [{ id: 'local', family: 'local' }] },
  });
  const found = await resources.get('model', 'local/bm25');
  assert.equal(found?.managedBy, 'built-in');
  assert.equal(found?.place?.line, 1);
  const put = await resources.put(
    'model',
    'local/bm25',
    { ...found?.document, visible: false },
    { expected: 0, actor },
  );
  assert.equal(put.outcome, 'created');
  await follow();
  assert.equal((await resources.get('model', 'local/bm25'))?.managedBy, 'store');
  assert.equal((await resources.list('model')).filter(({ id }) => id === 'local/bm25').length, 1);
});
