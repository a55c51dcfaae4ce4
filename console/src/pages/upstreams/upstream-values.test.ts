import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FamilyFacts } from '../../../../src/admin/contract.ts';
import { emptyKey, toField, toFirstValues, toUpstreamDocument, toUpstreamValues } from './upstream-values.ts';

const family: FamilyFacts = {
  id: 'openai',
  title: 'OpenAI',
  kind: 'service',
  baseUrl: 'https://api.openai.com/v1',
  needsAddress: false,
  credential: 'key',
  header: 'authorization',
  options: [
    { name: 'api', description: '', values: ['a', 'b'], pattern: null, form: null, default: 'a', required: false },
  ],
  offers: [],
  listsModels: true,
  bridges: false,
  takesLegacyEngines: true,
  builtIn: [],
  starter: null,
};

test('an upstream read into the form is written back unchanged, also fields that the form lacks', () => {
  const document = {
    id: 'a',
    family: 'openai',
    base_url: 'http://10.0.0.1/v1',
    options: { api: 'b' },
    headers: { 'x-team': '(sealed)' },
    forward_headers: ['x-user'],
    response_headers: ['x-ratelimit-*', 'retry-after'],
    timeouts: { connect: '1s' },
    limits: { concurrency: 'auto', max_concurrency: 64, queue_timeout: '3s', bulk_share: '20%' },
    pace: '30s',
    endpoints: 'dns',
    endpoint_zone: ['10.1.0.0/16'],
    budgets: [{ every: 'month', amount: '50' }],
    tls: { ca: '/etc/ca.pem', server_name: 'inner' },
    health_check: { path: '/health', interval: '5s' },
    legacy_engines: 'native',
    screen: 'errors',
    base64: 'convert',
    answer_limit: '8MiB',
    model_list: 'ignore',
    newer: { as: [' it is '] },
  };
  assert.deepEqual(toUpstreamDocument(toUpstreamValues(document, family), family), document);
});

test('endpoints read into the form are written back as a keyword or a list of addresses', () => {
  for (const endpoints of ['srv', ['10.0.0.7:8080'], ['10.0.0.7', '10.0.0.8']]) {
    const document = { id: 'a', family: 'openai', endpoints };
    assert.deepEqual(toUpstreamDocument(toUpstreamValues(document, family), family), document);
  }
});

test('emptied form fields are left out of the document, and digits are written as a number', () => {
  const document = { id: 'a', family: 'openai', health_check: { path: '/', interval: '5s' }, screen: 'errors' };
  const values = toUpstreamValues({ ...document, tls: { server_name: 'x' }, pace: '1s', endpoints: ['a'] }, family);
  const emptied = { health_check: { path: ' ', interval: '5s' }, screen: false, tls: { server_name: '' }, pace: ' ' };
  const limits = { queue: '12', concurrency: 'auto', bulk_share: '' };
  assert.deepEqual(toUpstreamDocument({ ...values, ...emptied, endpoints: [], limits }, family), {
    ...{ id: 'a', family: 'openai' },
    limits: { queue: 12, concurrency: 'auto' },
  });
});

test("form fields with default values are left out of the upstream's document", () => {
  const values = toFirstValues(family, 'openai');
  assert.deepEqual(
    [values.base_url, values.options, values.keys.length],
    ['https://api.openai.com/v1', { api: 'a' }, 1],
  );
  assert.deepEqual(toUpstreamDocument(values, family), { id: 'openai', family: 'openai' });
});

test('a stored credential is kept until another is typed', () => {
  const values = toUpstreamValues({ id: 'a', family: 'openai', api_key: '(sealed)' }, family);
  assert.deepEqual(
    values.keys.map(({ secret, kept }) => [secret, kept]),
    [['', '(sealed api_key)']],
  );
  assert.equal(toUpstreamDocument(values, family).api_key, '(sealed api_key)');
  const [key = emptyKey()] = values.keys;
  assert.equal(toUpstreamDocument({ ...values, keys: [{ ...key, secret: 'sk-new' }] }, family).api_key, 'sk-new');
  assert.equal(toUpstreamDocument({ ...values, keys: [] }, family).api_key, undefined);
});

test('each stored credential keeps its own secret when others are removed', () => {
  const credentials = [0, 1, 2].map((index) => ({ api_key: `(sealed credentials[${index}].api_key)`, weight: index }));
  const values = toUpstreamValues({ id: 'a', family: 'openai', credentials }, family);
  assert.deepEqual(toUpstreamDocument(values, family).credentials, credentials);
  const without = { ...values, keys: values.keys.slice(1) };
  assert.deepEqual(toUpstreamDocument(without, family).credentials, credentials.slice(1));
  const only = { ...values, keys: values.keys.slice(2) };
  assert.deepEqual(toUpstreamDocument(only, family).api_key, '(sealed credentials[2].api_key)');
});

test('adding a second credential writes a list of both', () => {
  const values = toUpstreamValues({ id: 'a', family: 'openai', api_key: '(sealed)' }, family);
  const keys = [...values.keys, { ...emptyKey(), secret: 'sk-second', weight: 3 }];
  assert.deepEqual(toUpstreamDocument({ ...values, keys }, family).credentials, [
    { api_key: '(sealed api_key)', weight: 1 },
    { api_key: 'sk-second', weight: 3 },
  ]);
});

test('a configuration fault is shown at the form field of its path', () => {
  const rows = [
    ['api_key', 'keys[0].secret'],
    ['credentials[1].api_key', 'keys[1].secret'],
    ['credentials[1].weight', 'keys[1].weight'],
    ['headers.x-team', 'headers'],
    ['options.region', 'options.region'],
    ['base_url', 'base_url'],
  ] as const;
  for (const [path, field] of rows) assert.equal(toField(path), field);
});
