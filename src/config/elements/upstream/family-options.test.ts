import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { faultsOf, loaded } from '../../../../test/support/gateways/configuration.ts';
import { defineFamily, type Family } from '../../../core/family.ts';

const translation = {
  ask() {
    throw new TypeError('nobody asks');
  },
};

/** With an option of every kind. */
const regional = defineFamily({
  id: 'regional',
  title: 'A service with a place for each region',
  baseUrl: 'https://{region}.h.test/{project}/v1',
  auth: ({ header = 'x-key' }) => ({ header, prefix: '' }),
  versions: ['/v1beta', '/v1'],
  options: {
    region: { description: 'The region, such as `eu-1`.', required: true },
    project: { description: 'The project.', default: 'mine' },
    version: { description: 'The version: `a` or `b`.', values: ['a', 'b'], default: 'a' },
    most: { description: 'Inputs in a call, at most.', pattern: /^[1-9]\d{0,6}$/, default: '10' },
    header: { description: 'The header of its key.' },
  },
  offers: ({ version, base64, most }) => ({
    openai: {
      embeddings: {
        path: `/{region}/${version}/{model}/{unknown}/{constructor}`,
        translation,
        facts: `${base64} ${most}`,
      },
    },
  }),
});

const plain = defineFamily({ id: 'plain', title: 'A service without options', baseUrl: 'https://h.test', offers: {} });
const families: readonly Family[] = [regional, plain];

async function upstreamOf(t: TestContext, fields: string, env: Record<string, string> = {}) {
  const { snapshot } = await loaded(t, `upstreams: [{ id: a, ${fields} }]`, { families, env });
  const upstream = snapshot.upstreams.get('a');
  assert.ok(upstream);
  return upstream;
}

async function faultsIn(t: TestContext, fields: string, env: Record<string, string> = {}): Promise<string[]> {
  const faults = await faultsOf(t, `upstreams: [{ id: a, ${fields} }]`, { families, env });
  return faults.map(({ path, message }) => `${path.replace('upstreams[0].', '')} ${message}`);
}

test("options of a family have defaults and are used in addresses, paths and the family's own settings", async (t) => {
  const upstream = await upstreamOf(t, 'family: regional, options: { region: eu-1, most: 25, version: b }, api_key: k');
  assert.deepEqual(upstream.options, { region: 'eu-1', project: 'mine', version: 'b', most: '25', base64: 'pass' });
  assert.deepEqual([upstream.origin, upstream.pathPrefix], ['https://eu-1.h.test', '/mine']);
  const offer = upstream.offers.get('openai embeddings');
  assert.equal(offer?.path, '/eu-1/b/{model}/{unknown}/{constructor}');
  assert.equal(offer?.facts, 'pass 25');
  assert.deepEqual(upstream.credentials[0].headers, ['x-key', 'k']);
  assert.ok(Object.isFrozen(upstream.options) && Object.isFrozen(offer));
});

test('upstream settings such as base64 are passed to the family, and are refused as options', async (t) => {
  const upstream = await upstreamOf(t, 'family: regional, options: { region: eu }, base64: convert');
  assert.equal(upstream.offers.get('openai embeddings')?.facts, 'convert 10');
  assert.match(
    String(await faultsIn(t, 'family: regional, options: { region: eu, base64: convert }')),
    /^options\.base64 unknown option "base64" of family regional/,
  );
});

test('a configured base_url is kept, except for a version that operation paths contain', async (t) => {
  const options = 'options: { region: eu }';
  for (const [written, pathPrefix] of [
    ['http://h', ''],
    ['http://h/v1', ''],
    ['http://h/v1/', ''],
    ['http://h/v1beta', ''],
    ['http://h/a/v1', '/a'],
    ['http://h/v1/v1', '/v1'],
    ['http://h/av1', '/av1'],
    ['http://h/v2', '/v2'],
  ] as const) {
    const upstream = await upstreamOf(t, `family: regional, ${options}, base_url: "${written}"`);
    assert.deepEqual([upstream.origin, upstream.pathPrefix], ['http://h', pathPrefix], written);
  }
});

test('a fault in an option gives its location and the allowed values', async (t) => {
  for (const [options, wanted] of [
    ['', 'options.region is missing; family regional needs it: The region, such as `eu-1`.'],
    [
      ', options: { regin: eu }',
      /^options\.region is missing.*,options\.regin unknown option "regin" of family regional; did you mean region\?$/,
    ],
    [
      ', options: { region: eu, zzz: 1 }',
      'options.zzz unknown option "zzz" of family regional; known are region, project, version, most, header',
    ],
    [', options: { region: eu, version: c }', 'options.version wanted: one of a, b'],
    [', options: { region: eu, most: 0 }', 'options.most wanted: Inputs in a call, at most'],
    [', options: { region: eu, most: 1.5 }', 'options.most wanted: Inputs in a call, at most'],
    [', options: { region: eu, most: 1e21 }', 'options.most wanted: Inputs in a call, at most'],
    [', options: { region: "a b" }', 'options.region wanted: The region, such as `eu-1`'],
    [', options: { region: "" }', 'options.region wanted: The region, such as `eu-1`'],
    [', options: { region: "../x" }', 'options.region wanted: The region, such as `eu-1`'],
    [', options: { region: "a/b" }', 'options.region wanted: The region, such as `eu-1`'],
    [', options: { region: "a?b" }', 'options.region wanted: The region, such as `eu-1`'],
    [', options: { region: "a@b" }', 'options.region wanted: The region, such as `eu-1`'],
    [', options: { region: "{project}" }', 'options.region wanted: The region, such as `eu-1`'],
    [
      ', options: { region: true }',
      'options.region wanted: text or a number; came: true; put it in quotes to make it text',
    ],
    [', options: { region: null }', /^options\.region wanted: text or a number; came: /],
    [', options: { region: [eu] }', /^options\.region wanted: text or a number; came: /],
    [', options: [region]', /^options wanted: a mapping of options to values; came: a list/],
  ] as const) {
    const faults = String(await faultsIn(t, `family: regional${options}`));
    if (typeof wanted === 'string') assert.equal(faults, wanted);
    else assert.match(faults, wanted, options);
  }
});

test('options are refused for a family without options', async (t) => {
  assert.deepEqual(await faultsIn(t, 'family: plain, options: { region: eu }'), [
    'options.region unknown option "region" of family plain; family plain has none',
  ]);
});

test('a fault in an option does not repeat a value that comes from the environment', async (t) => {
  const env = { SECRET: 'a secret / that is no region' };
  const faults = await faultsIn(t, `family: regional, options: { region: "\${SECRET}" }`, env);
  assert.deepEqual(faults, ['options.region wanted: The region, such as `eu-1`']);
  const upstream = await upstreamOf(t, `family: regional, options: { region: "\${REGION}" }`, { REGION: 'us-2' });
  assert.equal(upstream.origin, 'https://us-2.h.test');
});

test('unknown options are refused whatever their name, such as "constructor"', async (t) => {
  for (const name of ['constructor', 'toString', 'hasOwnProperty']) {
    const faults = await faultsIn(t, `family: regional, options: { region: eu, "${name}": x }`);
    assert.match(String(faults), /^options\.\S+ unknown option/, name);
  }
});
