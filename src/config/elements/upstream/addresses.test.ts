import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createDirectory, faultsOf, loaded, sampleFamilies } from '../../../../test/support/gateways/configuration.ts';
import { toResource } from '../../../../test/support/stores/memory-resources.ts';
import { loadConfiguration } from '../../load.ts';

async function load(t: TestContext, text: string, baseUrl: string) {
  const cwd = await createDirectory(t, { 'postern.yaml': text });
  const resources = [toResource('upstream', { id: 'a', family: 'homemade', base_url: baseUrl })];
  return loadConfiguration({ env: {}, families: sampleFamilies, resources, cwd });
}

test('the address policy applies to upstreams of the store, and not to those of the configuration file', async (t) => {
  const found = await load(
    t,
    'upstreams: [{ id: f, family: homemade, base_url: "http://169.254.169.254" }]\n',
    'http://127.0.0.1:7',
  );
  assert.ok(found.ok, JSON.stringify(found));
  assert.equal(found.snapshot.upstreams.get('f')?.addresses, undefined);
  const rule = found.snapshot.upstreams.get('a')?.addresses;
  assert.equal(rule, found.snapshot.upstreamAddresses);
  assert.deepEqual([rule?.permits('10.0.0.1'), rule?.permits('169.254.169.254')], [true, false]);
});

test('an IP address that the address policy excludes is a fault of base_url, in every notation', async (t) => {
  for (const host of [
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '0251.0376.0251.0376',
    '[::ffff:a9fe:a9fe]',
    '0',
  ]) {
    const found = await load(t, 'server: {}\n', `http://${host}/v1`);
    assert.ok(!found.ok, host);
    assert.match(
      found.faults[0]?.message ?? '',
      /^leads to \S+, which is not allowed for upstreams of the store/,
      host,
    );
    assert.equal(found.faults[0]?.path, 'base_url');
  }
});

test('only upstreams of the configuration file may be at a Unix socket, whatever the address policy allows', async (t) => {
  const inFile = 'upstreams: [{ id: f, family: homemade, base_url: "unix:/run/x.sock:/v1" }]\n';
  const found = await load(t, inFile, 'http://127.0.0.1:7');
  assert.ok(found.ok, JSON.stringify(found));
  assert.equal(found.snapshot.upstreams.get('f')?.origin, 'unix:/run/x.sock:');
  const spellings = [
    'unix:/run/x.sock:/v1',
    'unix:/run/x.sock',
    'unix:run',
    'unix:',
    'UNIX:/run/x.sock',
    'unix://h/v1',
  ];
  for (const text of ['server: {}\n', 'upstream_addresses: { allow: [0.0.0.0/0, "::/0"] }\n']) {
    for (const written of spellings) {
      const refused = await load(t, text, written);
      assert.ok(!refused.ok, written);
      assert.equal(refused.faults[0]?.path, 'base_url');
      const error = written.startsWith('unix:') ? /names a socket of the machine/ : /begins with http/;
      assert.match(refused.faults[0]?.message ?? '', error, written);
    }
  }
});

test('upstream_addresses allows and denies ranges beyond the default address policy', async (t) => {
  const wide = await load(t, 'upstream_addresses: { allow: [100.64.0.0/10] }\n', 'http://100.64.0.1');
  assert.ok(wide.ok, JSON.stringify(wide));
  const narrow = await load(t, 'upstream_addresses: { deny: [127.0.0.0/8] }\n', 'http://127.0.0.1');
  assert.ok(!narrow.ok);
});

test('an invalid address or range in upstream_addresses is a fault', async (t) => {
  const faults = await faultsOf(t, 'upstream_addresses: { allow: [10.0.0.0/33], deny: [localhost] }\n');
  assert.deepEqual(
    faults.map(({ path }) => path),
    ['upstream_addresses.allow[0]', 'upstream_addresses.deny[0]'],
  );
});

test('without upstream_addresses the default address policy applies', async (t) => {
  const { snapshot } = await loaded(t, 'server: {}\n');
  assert.equal(snapshot.upstreamAddresses.permits('100.64.0.1'), false);
});

test('endpoints of an upstream are discovered by DNS if its host is a name', async (t) => {
  const endpointsOf = async (fields: string) => {
    const { snapshot } = await loaded(t, `upstreams: [{ id: a, family: homemade, ${fields} }]`);
    return snapshot.upstreams.get('a')?.endpoints;
  };
  assert.deepEqual(await endpointsOf('base_url: "http://tei.test/v1"'), { from: 'private dns', zone: [] });
  assert.equal(await endpointsOf('base_url: "http://10.0.0.7/v1"'), undefined);
  assert.equal(await endpointsOf('base_url: "http://localhost/v1"'), undefined);
  assert.equal(await endpointsOf('base_url: "unix:/run/x.sock:/v1"'), undefined);
  assert.equal(await endpointsOf('base_url: "http://tei.test/v1", endpoints: off'), undefined);
  assert.deepEqual(await endpointsOf('base_url: "http://tei.test/v1", endpoints: srv, endpoint_zone: [10.1.0.0/16]'), {
    from: 'srv',
    zone: ['10.1.0.0/16'],
  });
  assert.deepEqual(await endpointsOf('base_url: "http://10.0.0.7/v1", endpoints: ["10.0.0.7", "[fd00::8]:81"]'), {
    from: ['10.0.0.7', '[fd00::8]:81'],
    zone: [],
  });
});

test('endpoints of an upstream that cannot be resolved or that the address policy excludes are faults', async (t) => {
  for (const [fields, path, error] of [
    ['base_url: "http://10.0.0.7/v1", endpoints: dns', 'upstreams[0].endpoints', /no name to look up/],
    ['base_url: "unix:/run/x.sock:/v1", endpoints: [10.0.0.7]', 'upstreams[0].endpoints', /names a socket/],
    ['base_url: "http://a.test", endpoints: ["a.test:99999"]', 'upstreams[0].endpoints[0]', /a host or an address/],
    ['base_url: "http://a.test", endpoints: ["http://a.test"]', 'upstreams[0].endpoints[0]', /a host or an address/],
    ['base_url: "http://a.test", endpoints: []', 'upstreams[0].endpoints', /at least one|dns, srv, off/],
  ] as const) {
    const [fault] = await faultsOf(t, `upstreams: [{ id: a, family: homemade, ${fields} }]`);
    assert.equal(fault?.path, path, fields);
    assert.match(fault?.message ?? '', error, fields);
  }
  const cwd = await createDirectory(t, { 'postern.yaml': 'server: {}\n' });
  const document = { id: 'a', family: 'homemade', base_url: 'http://a.test/v1', endpoints: ['169.254.169.254:80'] };
  const resources = [toResource('upstream', document)];
  const found = await loadConfiguration({ env: {}, families: sampleFamilies, resources, cwd });
  assert.ok(!found.ok);
  assert.match(found.faults[0]?.message ?? '', /not allowed for upstreams of the store/);
});
