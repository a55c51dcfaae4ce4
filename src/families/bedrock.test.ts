import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bedrockError } from '../../test/families/bedrock.ts';
import { faultsOf, loaded } from '../../test/support/gateways/configuration.ts';
import { startRig } from '../../test/support/gateways/rig.ts';
import { startService } from '../../test/support/upstreams/service.ts';
import family from './bedrock.ts';

const families = [family];
const toText = (key: string, region = 'us-east-1'): string =>
  `upstreams: [{ id: a, family: bedrock, api_key: "${key}", options: { region: ${region} } }]`;

test('the address of a Bedrock upstream is derived from its region', async (t) => {
  for (const region of ['us-east-1', 'us-gov-west-1']) {
    const { snapshot } = await loaded(t, toText('key', region), { families });
    assert.equal(snapshot.upstreams.get('a')?.origin, `https://bedrock-runtime.${region}.amazonaws.com`);
  }
  const faults = await faultsOf(t, toText('key', 'evil.test/'), { families });
  assert.deepEqual(
    faults.map(({ path }) => path),
    ['upstreams[0].options.region'],
  );
});

test('an incomplete Bedrock key is a fault whose message shows no part of the key', async (t) => {
  for (const key of ['AKIAIOSFODNN7EXAMPLE', 'AKIAIOSFODNN7EXAMPLE:', 'ASIAIOSFODNN7EXAMPLE:secret-0123']) {
    const faults = await faultsOf(t, toText(key), { families });
    assert.deepEqual(
      faults.map(({ path }) => path),
      ['upstreams[0].api_key'],
    );
    assert.doesNotMatch(faults[0]?.message ?? '', /IOSFODNN7|secret-0123/);
  }
});

test('Bedrock accepts an access key with or without session token, and an API key', async (t) => {
  for (const key of ['ASIAIOSFODNN7EXAMPLE:secret:token', 'AKIAIOSFODNN7EXAMPLE:secret', 'ABSKQmVkcm9ja0FQSUtleQ==']) {
    const { snapshot } = await loaded(t, toText(key), { families });
    const [credential] = snapshot.upstreams.get('a')?.credentials ?? [];
    assert.equal(typeof credential?.signer, 'function');
    assert.deepEqual(credential?.headers, []);
  }
});

test('a configured Authorization header replaces the signature of a Bedrock key, with a warning', async (t) => {
  const text =
    'upstreams: [{ id: a, family: bedrock, api_key: "id:secret", headers: { Authorization: mine }, options: { region: us-east-1 } }]';
  const { snapshot, warnings } = await loaded(t, text, { families });
  const [credential] = snapshot.upstreams.get('a')?.credentials ?? [];
  assert.deepEqual([credential?.headers, credential?.signer], [['authorization', 'mine'], undefined]);
  assert.deepEqual(warnings, ['upstreams[0]: its key has no effect, as headers sets authorization']);
});

test('a Bedrock error 424 or 408 (model failed or timed out) sends the request to the next target', async (t) => {
  for (const status of [424, 408]) {
    const first = await startService(t, () => bedrockError(status, 'no', 'ModelErrorException'));
    const second = await startService(t, () => ({ body: { embedding: [1], inputTextTokenCount: 1 } }));
    const rig = await startRig(t, {
      upstreams: [first, second].map(({ url }, index) => ({
        ...{ id: `u${index}`, family: 'bedrock', base_url: url, api_key: 'sk-0123456789' },
        options: { region: 'us-east-1' },
      })),
      models: [
        {
          id: 'm',
          operations: ['embeddings'],
          targets: [0, 1].map((index) => ({
            upstream: `u${index}`,
            model: 'amazon.titan-embed-text-v1',
            priority: index,
          })),
        },
      ],
    });
    const { status: got } = await rig.post('/v1/embeddings', { model: 'm', input: 'a' });
    assert.deepEqual([got, first.calls.length, second.calls.length], [200, 1, 1]);
  }
});
