import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createDirectory, sampleFamilies } from '../../../test/support/gateways/configuration.ts';
import { toResource } from '../../../test/support/stores/memory-resources.ts';
import type { ModelIndex } from '../../core/snapshot.ts';
import type { Resource } from '../../core/store/resources.ts';
import { parseKeyRing } from '../../lib/secrets/sealed.ts';
import { type LoadOptions, loadConfiguration } from '../load.ts';
import { sealDocument } from '../store/sealed-fields.ts';

type Loaded = Awaited<ReturnType<typeof loadConfiguration>>;

/** Loads the same file again and again, with other resources. */
async function loader(t: TestContext, text = 'server: {}\n') {
  const cwd = await createDirectory(t, { 'postern.yaml': text });
  const load = (resources: readonly Resource[], more: Partial<LoadOptions> = {}): Promise<Loaded> =>
    loadConfiguration({ env: {}, families: sampleFamilies, resources, ...more, cwd });
  /** By objects that no load has seen. */
  const afresh = (resources: readonly Resource[], more?: Partial<LoadOptions>) =>
    load(structuredClone(resources), more);
  return { load, afresh };
}

function modelIn(loaded: Loaded, id: string) {
  assert.ok(loaded.ok, JSON.stringify(loaded));
  const model = loaded.snapshot.models.resolve(id)?.model;
  assert.ok(model, `there is no model ${id}`);
  return model;
}

const changed = (resource: Resource, document: object): Resource => ({
  ...resource,
  version: resource.version + 1,
  document: { ...resource.document, ...document },
});

const one = toResource('upstream', { id: 'one', family: 'openai', base_url: 'http://127.0.0.1:9/v1' });
const two = toResource('upstream', { id: 'two', family: 'openai', base_url: 'http://127.0.0.1:8/v1' });
const modelAt = (id: string, upstream: string, more: object = {}): Resource =>
  toResource('model', { id, operations: ['embeddings'], targets: [{ upstream }], ...more });

test('after a reload an unchanged stored model is the same object, and a changed one is a new object', async (t) => {
  const { load } = await loader(t);
  const [kept, other] = [modelAt('kept', 'one'), modelAt('other', 'one')];
  const before = await load([one, kept, other]);
  const after = await load([one, kept, changed(other, { visible: false })]);
  assert.equal(modelIn(after, 'kept'), modelIn(before, 'kept'));
  assert.equal(modelIn(before, 'other').visible, true);
  assert.equal(modelIn(after, 'other').visible, false);
});

test('a changed upstream recompiles the models that use it and no others', async (t) => {
  const { load } = await loader(t);
  const [first, second] = [modelAt('first', 'one'), modelAt('second', 'two')];
  const before = await load([one, two, first, second]);
  const after = await load([changed(one, { base_url: 'http://127.0.0.1:7/v1' }), two, first, second]);
  assert.equal(modelIn(after, 'first').targets[0].upstream.origin, 'http://127.0.0.1:7');
  assert.equal(modelIn(after, 'second'), modelIn(before, 'second'));
});

test('a reload reports the same faults and warnings as a first load of the same configuration', async (t) => {
  const { load, afresh } = await loader(t);
  const states: readonly (readonly Resource[])[] = [
    [one, modelAt('m', 'one', { usage: 'ask', operations: undefined })],
    [one, modelAt('m', 'absent'), modelAt('n', 'one', { price: { input: 0.0000001 } })],
    [one, modelAt('m', 'one', { aliases: ['n'] }), modelAt('n', 'one')],
    [one, modelAt('m', 'one', { usage: '$HOME' }), modelAt('sk-ant-api03-abcdefghijklmnopqrstuvwxyz012345', 'one')],
    [
      one,
      toResource('model', { id: 'm', operations: ['rerank'], targets: [{ upstream: 'one', defaults: { model: 1 } }] }),
    ],
  ];
  for (const resources of states) {
    const reportsOf = (loaded: Loaded) => (loaded.ok ? loaded.warnings : loaded.faults);
    const expected = reportsOf(await afresh(resources));
    assert.deepEqual(reportsOf(await load(resources)), expected);
    assert.deepEqual(reportsOf(await load(resources)), expected, 'the second load reports something else');
  }
});

test('a model whose upstream was removed is a fault, and valid again when the upstream is back', async (t) => {
  const { load } = await loader(t);
  const model = modelAt('m', 'one');
  assert.ok((await load([one, model])).ok);
  const without = await load([model]);
  assert.ok(!without.ok);
  assert.match(without.faults[0]?.message ?? '', /unknown upstream/);
  assert.equal(modelIn(await load([one, model]), 'm').targets[0].upstream.id, 'one');
});

test('a model whose upstream had a fault and was then removed gets a fault itself', async (t) => {
  const { load } = await loader(t);
  const faulty = changed(one, { family: 'no-such-family' });
  for (const targets of [[{ upstream: 'one' }], [{ upstream: 'one' }, { upstream: 'two' }]]) {
    const model = modelAt('m', 'one', { targets });
    const withFaulty = await load([faulty, two, model]);
    assert.ok(!withFaulty.ok);
    assert.match(withFaulty.faults.map(({ message }) => message).join(), /^unknown family/);
    const without = await load([two, model]);
    assert.ok(!without.ok, 'the configuration is taken, without the target');
    assert.match(without.faults[0]?.message ?? '', /unknown upstream/);
  }
});

test('a reload decrypts stored secrets with the secret keys of this load, not of an earlier one', async (t) => {
  const { load } = await loader(t);
  const key = randomBytes(32).toString('hex');
  const document = { ...one.document, api_key: 'sk-stored-secret' };
  const sealing = sealDocument({ kind: 'upstream', id: 'one' }, document, parseKeyRing(key), undefined);
  assert.ok('document' in sealing);
  const sealed = { ...one, document: sealing.document };
  const model = modelAt('m', 'one');
  const opened = await load([sealed, model], { env: { POSTERN_SECRET_KEY: key } });
  assert.deepEqual(modelIn(opened, 'm').targets[0].upstream.secrets, ['sk-stored-secret']);
  const closed = await load([sealed, model], { env: { POSTERN_SECRET_KEY: randomBytes(32).toString('hex') } });
  assert.ok(!closed.ok);
  assert.match(closed.faults[0]?.message ?? '', /is sealed under the key/);
});

test('a changed upstream_addresses rule of the file applies to unchanged stored upstreams', async (t) => {
  const stored = toResource('upstream', { id: 'one', family: 'openai', base_url: 'http://8.8.8.8/v1' });
  const open = await loader(t);
  const shut = await loader(t, 'upstream_addresses: { deny: ["8.8.8.0/24"] }\n');
  assert.ok((await open.load([stored])).ok);
  assert.ok(!(await shut.load([stored])).ok);
  assert.ok((await open.load([stored])).ok);
});

test('with custom routes, every reload recompiles the models, whose plans contain the routes', async (t) => {
  const route = 'routes: [{ path: /v1/parse, form: true }]\n';
  const { load } = await loader(t, route);
  const resources = [one, modelAt('m', 'one')];
  assert.notEqual(modelIn(await load(resources), 'm'), modelIn(await load(resources), 'm'));
});

test('a stored model on an upstream of the file is the same object until that upstream changes', async (t) => {
  const cwd = await createDirectory(t, {});
  const load = async (text: string, env = {}) => {
    await writeFile(join(cwd, 'postern.yaml'), text);
    return loadConfiguration({ env, families: sampleFamilies, resources: [model], cwd });
  };
  const model = modelAt('m', 'filed');
  const file = `upstreams: [{ id: filed, family: openai, base_url: "http://127.0.0.1:9/v1", api_key: "\${KEY}" }]\n`;
  const first = await load(file, { KEY: 'a-key' });
  assert.equal(modelIn(await load(`log: {}\n${file}`, { KEY: 'a-key' }), 'm'), modelIn(first, 'm'));
  const rotated = await load(file, { KEY: 'another-key' });
  assert.deepEqual(modelIn(rotated, 'm').targets[0].upstream.secrets, ['another-key']);
  const moved = await load(file.replace(':9', ':8'), { KEY: 'another-key' });
  assert.equal(modelIn(moved, 'm').targets[0].upstream.origin, 'http://127.0.0.1:8');
});

test('a quoted number in the file is refused, even after a variable with the same text was accepted', async (t) => {
  const cwd = await createDirectory(t, {});
  const load = async (weight: string) => {
    const text = `upstreams: [{ id: a, family: openai }]\nmodels: [{ id: m, operations: [embeddings], targets: [{ upstream: a, weight: "${weight}" }] }]\n`;
    await writeFile(join(cwd, 'postern.yaml'), text);
    return loadConfiguration({ env: { WEIGHT: '5' }, families: sampleFamilies, cwd });
  };
  assert.equal(modelIn(await load(`\${WEIGHT}`), 'm').targets[0].weight, 5);
  const literal = await load('5');
  assert.ok(!literal.ok);
  assert.match(literal.faults[0]?.message ?? '', /number/);
});

test('a reload after many changes gives the same models in the same order as a first load', async (t) => {
  const { load, afresh } = await loader(t);
  const choose = randomFrom(7);
  let all: readonly Resource[] = [one, two];
  const add = (id: number): void => {
    const more = { aliases: id % 5 === 0 ? [`alias-${id}`] : [], ...(id % 7 === 0 && { price: { input: 0.0000001 } }) };
    all = [...all, modelAt(id % 11 === 0 ? `pattern-${id}-*` : `m${id}`, choose(2) === 0 ? 'one' : 'two', more)];
  };
  for (let id = 0; id < 150; id++) add(id);
  for (let round = 0; round < 40; round++) {
    const at = 2 + choose(all.length - 2);
    const what = round % 5;
    if (what === 0) add(1_000 + round);
    else if (what === 1) all = all.toSpliced(at, 1);
    else if (what === 2)
      all = all.map((resource, index) => (index === at ? changed(resource, { visible: false }) : resource));
    else if (what === 3) all = all.toSpliced(at, 0, modelAt(`between-${round}`, 'one'));
    else if (round % 3 === 0)
      all = all.map((resource, index) => (index === 0 ? changed(resource, { pace: '2s' }) : resource));
    const [again, expected] = [await load(all), await afresh(all)];
    assert.ok(again.ok && expected.ok);
    assert.deepEqual(viewOf(again.snapshot.models), viewOf(expected.snapshot.models));
    assert.deepEqual(again.warnings, expected.warnings);
    assert.equal(again.snapshot.models.all.length, all.length - 2);
    const same = await load(all);
    assert.ok(same.ok && same.snapshot.models.all.every((model, index) => model === again.snapshot.models.all[index]));
  }
});

test('a model that takes the name of another as its alias is a fault, until it drops the alias', async (t) => {
  const { load } = await loader(t);
  const many = Array.from({ length: 100 }, (_, index) => modelAt(`m${index}`, 'one'));
  assert.ok((await load([one, ...many])).ok);
  const taking = await load([
    one,
    ...many.map((model, index) => (index === 40 ? changed(model, { aliases: ['m70'] }) : model)),
  ]);
  assert.ok(!taking.ok);
  assert.match(taking.faults[0]?.message ?? '', /"m70" is taken by/);
  assert.ok((await load([one, ...many])).ok);
});

const viewOf = ({ all, namesByUpstream, resolve }: ModelIndex) => ({
  all: all.map(({ id, visible, targets }) => [id, visible, targets[0].upstream.id, targets[0].upstream.paceMs]),
  names: [...namesByUpstream].map(([id, names]) => [id, [...names]]),
  resolved: all.flatMap(({ id, aliases }) => [id.replace('*', 'x'), ...aliases].map((name) => resolve(name)?.model.id)),
});

/** Whole numbers below a bound, the same ones in every run. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

test('an unchanged file that is read again gives the same warnings, positions and masked secrets', async (t) => {
  const token = `hf_${'aB3'.repeat(11)}x`;
  const upstream = (id: string): string[] => [
    `  - { id: ${id}, family: openai, base_url: http://127.0.0.1:9/v1, api_key: sk-literal,`,
    `      metadata: { owner: ${token} } }`,
  ];
  const text = ['upstreams:', ...upstream('a'), ...upstream('b'), ''].join('\n');
  const { load } = await loader(t, text);
  const said = async () => {
    const loaded = await load([]);
    assert.ok(loaded.ok, JSON.stringify(loaded));
    return { warnings: loaded.warnings, declared: await loaded.declared(), secrets: [...loaded.misplacedSecrets] };
  };
  const first = await said();
  assert.equal(first.warnings.length, 1);
  assert.match(first.warnings[0] ?? '', /upstreams\[0\].*in 1 more place/);
  assert.deepEqual(
    first.declared.map(({ document }) => document.api_key),
    ['(sealed)', '(sealed)'],
  );
  for (let time = 0; time < 2; time += 1) assert.deepEqual(await said(), first);
});

test('each load reads and validates the environment variables of the file again', async (t) => {
  const address = (value: string): string =>
    `upstreams:\n  - { id: a, family: openai, base_url: '${value}' }\nmodels:\n  - { id: m, operations: [embeddings], targets: [{ upstream: a }] }\n`;
  const { load } = await loader(t, address(`\${HOST:-http://127.0.0.1:9/v1}`));
  const originOf = async (env: LoadOptions['env']) => modelIn(await load([], { env }), 'm').targets[0].upstream.origin;
  assert.equal(await originOf({}), 'http://127.0.0.1:9');
  assert.equal(await originOf({ HOST: 'http://127.0.0.1:8/v1' }), 'http://127.0.0.1:8');
  assert.equal(await originOf({}), 'http://127.0.0.1:9');

  const faulty = await loader(t, address('http://$HOST/v1'));
  const first = await faulty.load([]);
  assert.match(JSON.stringify(first), /names a variable/);
  for (let time = 0; time < 2; time += 1) {
    const again = await faulty.load([]);
    assert.deepEqual({ ...again, readAtMs: 0 }, { ...first, readAtMs: 0 });
  }
});
