import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { openSetup } from '../../test/families/family-setup.ts';
import vertex from '../../test/families/vertex.ts';
import { vectorOf } from '../../test/families/wire.ts';
import { faultsOf, loaded } from '../../test/support/gateways/configuration.ts';
import { privateKeyText } from '../../test/support/upstreams/token-endpoint.ts';
import family from './vertex.ts';

const answer = z.object({ data: z.array(z.object({ embedding: z.array(z.number()) })) });
const families = [family];

test('Vertex AI embeddings of long inputs are split into several calls', async (t) => {
  const setup = await openSetup(t, vertex);
  const texts = Array.from({ length: 250 }, (_, index) => `${index} ${'word '.repeat(100)}`);
  const { status, text, json } = await setup.ask('/v1/embeddings', { model: 'm', input: texts });
  assert.equal(status, 200, text.slice(0, 500));
  assert.deepEqual(
    answer.parse(json).data.map(({ embedding }) => embedding),
    texts.map((one) => vectorOf(one)),
  );
  assert.equal(setup.calls.length, 3);
});

test('the number of inputs per Vertex AI call can be configured', async (t) => {
  const setup = await openSetup(t, vertex, {
    upstream: { options: { project: 'p-1', location: 'us-central1', max_items: 2 } },
  });
  const { status } = await setup.ask('/v1/embeddings', { model: 'm', input: ['a', 'b', 'c'] });
  assert.deepEqual([status, setup.calls.length], [200, 2]);
});

test('the address of a Vertex AI upstream is derived from its location', async (t) => {
  const rows = [
    ['europe-west4', 'https://europe-west4-aiplatform.googleapis.com'],
    ['global', 'https://aiplatform.googleapis.com'],
    ['eu', 'https://aiplatform.eu.rep.googleapis.com'],
  ] as const;
  for (const [location, origin] of rows) {
    const text = `upstreams: [{ id: a, family: vertex, api_key: token, options: { project: p-1, location: ${location} } }]`;
    const { snapshot } = await loaded(t, text, { families });
    assert.equal(snapshot.upstreams.get('a')?.origin, origin);
    assert.equal(
      snapshot.upstreams.get('a')?.offers.get('openai embeddings')?.path,
      `/v1/projects/p-1/locations/${location}/publishers/google/models/{model}:predict`,
    );
  }
});

const upstream = 'upstreams:\n  - id: a\n    family: vertex\n    options: { project: p-1, location: eu }\n';

test('a Vertex AI key file without a credential is a fault at its path, and its content is not shown', async (t) => {
  const broken = JSON.stringify({
    type: 'service_account',
    client_email: 'a@b',
    private_key: privateKeyText.slice(0, 99),
  });
  for (const [text, path, expected] of [
    [`${upstream}    api_key_file: k`, 'upstreams[0].api_key_file', /no RSA key/],
    [`${upstream}    credentials:\n      - api_key_file: k`, 'upstreams[0].credentials[0].api_key_file', /no RSA key/],
  ] as const) {
    const faults = await faultsOf(t, text, { families, files: { k: broken } });
    assert.deepEqual(
      faults.map((fault) => fault.path),
      [path],
    );
    assert.match(faults[0]?.message ?? '', expected);
    assert.ok(!JSON.stringify(faults).includes(privateKeyText.slice(30, 40)));
  }
  const empty = await faultsOf(t, `${upstream}    api_key_file: k`, { families, files: { k: ' \n' } });
  assert.match(empty[0]?.message ?? '', /is empty/);
});

test('project and location of a Vertex AI upstream are mandatory', async (t) => {
  const faults = await faultsOf(t, 'upstreams: [{ id: a, family: vertex, api_key: token }]', { families });
  assert.deepEqual(
    faults.map(({ path }) => path),
    ['upstreams[0].options.project', 'upstreams[0].options.location'],
  );
});
