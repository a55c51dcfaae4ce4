import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultsOf, loaded } from '../../../test/support/gateways/configuration.ts';

const random = 'aB3dE5fG7hJ9kL2mN4pQ6rS8tU0vW1xY';
const secret = `sk-proj-${random}`;
const upstream = `{ id: a, family: openai, base_url: 'https://a.example/v1', api_key: ${secret} }`;

test("warns of a service's secret in a setting that is not secret, such as an ID or name, without repeating it", async (t) => {
  const texts = {
    'upstreams[1].id': `upstreams: [${upstream}, { id: ${secret}, family: openai, base_url: 'https://b.example/v1', api_key: k-0123456789 }]`,
    'upstreams[0].base_url': `upstreams: [{ id: a, family: openai, base_url: 'https://${secret}.example/v1', api_key: k-0123456789 }]`,
    'upstreams[0].metadata.owner': `upstreams: [{ id: a, family: openai, api_key: k-0123456789, metadata: { owner: "key ${secret}" } }]`,
    [`upstreams[0].metadata.${secret}`]: `upstreams: [{ id: a, family: openai, api_key: k-0123456789, metadata: { ${secret}: x } }]`,
    'models[0].id': `upstreams: [${upstream}]\nmodels: [{ id: ${secret}, targets: [{ upstream: a, model: m }] }]`,
    'models[0].aliases[0]': `upstreams: [${upstream}]\nmodels: [{ id: m, aliases: [hf_${random}], targets: [{ upstream: a }] }]`,
    'models[0].targets[0].model': `upstreams: [${upstream}]\nmodels: [{ id: m, targets: [{ upstream: a, model: ${secret} }] }]`,
    'models[0].targets[0].defaults.user': `upstreams: [${upstream}]\nmodels: [{ id: m, targets: [{ upstream: a, defaults: { user: ${secret} } }] }]`,
    'projects[0].name': `upstreams: [${upstream}]\nprojects: [{ id: p, name: AKIAIOSFODNN7EXAMPLE }]`,
  };
  for (const [path, text] of Object.entries(texts)) {
    const { warnings, misplacedSecrets } = await loaded(t, text);
    const [found, ...more] = warnings.filter((warning) => warning.includes('looks like a secret'));
    const [[mask = '', whole = ''] = []] = misplacedSecrets;
    assert.deepEqual(more, [], path);
    assert.ok(
      found?.startsWith(`${path.replace(secret, mask)}: `) || found?.includes(`["${mask}"]: `),
      `${path}: ${found}`,
    );
    assert.ok(found?.includes(`shown as ${mask}:`), path);
    assert.equal(misplacedSecrets.size, 1, path);
    assert.ok(text.includes(whole), path);
    assert.equal(warnings.join().includes(whole), false, path);
  }
});

test('warns once of a misplaced secret that occurs several times', async (t) => {
  const targets = Array.from({ length: 9 }, (_, index) => `{ id: m${index}, targets: [{ upstream: ${secret} }] }`);
  const { warnings } = await loaded(
    t,
    `upstreams: [{ id: ${secret}, family: openai, api_key: k-0123456789 }]\nmodels: [${targets.join(', ')}]`,
  );
  const found = warnings.filter((warning) => warning.includes('looks like a secret'));
  assert.equal(found.length, 1);
  assert.match(found[0] ?? '', /^upstreams\[0\]\.id: .* here and in 9 more places; /);
});

test('does not warn of secrets in credentials, headers, gateway keys, or the path or password of an address', async (t) => {
  const { warnings, misplacedSecrets } = await loaded(
    t,
    `
upstreams:
  - ${upstream}
  - id: b
    family: openai
    base_url: https://b.example/v1
    credentials: [{ api_key: ${secret} }, { api_key: xai-${random} }]
    headers: { x-other: gsk_${random} }
redis: redis://:${secret}@127.0.0.1:6379/0
keys: [{ id: k, secret: sk-client-${random}, models: ['*'] }]
alerts: { webhooks: [{ url: 'https://hooks.example/${secret}' }] }
`,
  );
  assert.deepEqual(
    warnings.filter((warning) => warning.includes('looks like a secret')),
    [],
  );
  assert.equal(misplacedSecrets.size, 0);
});

test("a fault that repeats a name which looks like a service's secret masks it", async (t) => {
  const faults = await faultsOf(
    t,
    `upstreams: [{ id: ${secret}, family: openai, ${secret}: 1 }, { id: ${secret}, family: openai }]\nmodels: [{ id: m, targets: [{ upstream: hf_${random} }] }]`,
  );
  assert.ok(faults.length >= 3);
  const said = JSON.stringify(faults);
  assert.equal(said.includes(random), false, said);
  assert.match(said, /masked-[0-9a-f]{8}/);
});
