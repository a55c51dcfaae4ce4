import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertFaults, type FaultRow, faultsOf } from '../../../test/support/gateways/configuration.ts';
import { FaultList } from '../read/faults.ts';
import { judge } from './judge.ts';
import { upstreamSchema } from './upstream/schema.ts';

const upstream = 'upstreams:\n  - id: a\n    family: openai\n';
const target = '    targets: [{ upstream: a }]\n';

const faultRows: readonly FaultRow[] = [
  { text: 'modles: []', line: 1, path: 'modles', error: /unknown key; did you mean models\?/ },
  { text: 'server:\n  bodyLimit: 1MiB', line: 2, path: 'server.bodyLimit', error: /did you mean body_limit\?/ },
  { text: 'server:\n  drain:\n    dealy: 1s', line: 3, path: 'server.drain.dealy', error: /did you mean delay\?/ },
  { text: 'server:\n  drain: { zzz: 1 }', line: 2, path: 'server.drain.zzz', error: /known here: delay, deadline/ },
  {
    text: `${upstream}    timeouts: { conect: 1s }`,
    line: 4,
    path: 'upstreams[0].timeouts.conect',
    error: /did you mean connect\?/,
  },
  {
    text: `${upstream}models:\n  - id: m\n    operations: [edits]\n${target}    priority: 1`,
    line: 8,
    path: 'models[0].priority',
    error: /unknown key/,
  },
  { text: 'server: []', line: 1, path: 'server', error: /wanted: a mapping of keys to values; came: an empty list/ },
  { text: 'upstreams: {}', line: 1, path: 'upstreams', error: /wanted: a list; came: a mapping/ },
  { text: 'upstreams:\n  - openai', line: 2, path: 'upstreams[0]', error: /wanted: a mapping/ },
  { text: 'upstreams:\n  - family: openai', line: 2, path: 'upstreams[0].id', error: /is missing; wanted: up to 64/ },
  {
    text: 'server:\n  diagnostics: yes',
    line: 2,
    path: 'server.diagnostics',
    error: /wanted: true or false; came: "yes"/,
  },
  { text: 'server: { port: 65536 }', line: 1, path: 'server.port', error: /from 0 to 65535; came: 65536/ },
  { text: 'server: { port: 4000.5 }', line: 1, path: 'server.port', error: /whole number .*; came: 4000.5/ },
  {
    text: 'upstreams:\n  - id: 7\n    family: openai',
    line: 2,
    path: 'upstreams[0].id',
    error: /came: 7; put it in quotes/,
  },
  { text: 'upstreams:\n  - id: a b\n    family: openai', line: 2, path: 'upstreams[0].id', error: /letters, digits/ },
  {
    text: `${upstream}models:\n  - id: "m\\n"\n    operations: [edits]\n${target}`,
    line: 5,
    path: 'models[0].id',
    error: /visible characters/,
  },
  ...['m\\u202ex', 'm\\u2066x', 'm\\u200bx', 'm\\ufeffx', 'm\\u2028x', '\\u3164', '\\u00ad', '\\u200e'].map(
    (unseen) => ({
      text: `${upstream}models:\n  - id: "${unseen}"\n    operations: [edits]\n${target}`,
      line: 5,
      path: 'models[0].id',
      error: /visible characters/,
    }),
  ),
  {
    text: `${upstream}models:\n  - id: "m "\n    operations: [edits]\n${target}`,
    line: 5,
    path: 'models[0].id',
    error: /no space at either end/,
  },
  {
    text: 'server:\n  drain: { delay: 5 }',
    line: 2,
    path: 'server.drain.delay',
    error: /a time with its unit, .*; came: 5$/,
  },
  { text: 'server:\n  timeouts: { headers: 30sec }', line: 2, path: 'server.timeouts.headers', error: /came: "30sec"/ },
  {
    text: 'server:\n  timeouts: { headers: 0s }',
    line: 2,
    path: 'server.timeouts.headers',
    error: /a time from 1ms to 24d; came: "0s"/,
  },
  { text: `${upstream}    timeouts: { total: 30d }`, line: 4, path: 'upstreams[0].timeouts.total', error: /to 24d/ },
  { text: 'server:\n  body_limit: 32MB', line: 2, path: 'server.body_limit', error: /32MiB; came: "32MB"/ },
  { text: 'server:\n  body_limit: 33554432', line: 2, path: 'server.body_limit', error: /a size with its unit/ },
  { text: 'server:\n  body_limit: 2GiB', line: 2, path: 'server.body_limit', error: /from 1KiB to 1GiB/ },
];

test('reports each schema fault once, with path, line and expected value', (t) => assertFaults(t, faultRows));

test('a setting called __proto__ is an unknown key everywhere, even where any name is allowed', async (t) => {
  const rows: [document: string, path: string][] = [
    ['{"__proto__":{"family":"local"}}', '__proto__'],
    ['{"headers":{"__proto__":"x"}}', 'headers.__proto__'],
    ['{"options":{"__proto__":"x"}}', 'options.__proto__'],
    ['{"timeouts":{"__proto__":{"connect":"1s"}}}', 'timeouts.__proto__'],
    ['{"credentials":[{"api_key":"k","__proto__":{"weight":0}}]}', 'credentials[0].__proto__'],
  ];
  for (const [document, path] of rows) {
    const faults = new FaultList();
    const input = { id: 'a', family: 'openai', ...JSON.parse(document) };
    if (path === '__proto__')
      Object.defineProperty(input, '__proto__', { value: {}, enumerable: true, configurable: true });
    judge(upstreamSchema, input, [], { faults, isSubstituted: () => false });
    assert.deepEqual(
      faults.all().map((fault) => [fault.path, fault.message]),
      [[path, 'unknown key']],
      document,
    );
  }
  const faults = await faultsOf(t, `${upstream}    headers: { __proto__: x }\n    options: { "__proto__": x }`);
  assert.deepEqual(
    faults.map(({ path, message }) => [path, message]),
    [
      ['upstreams[0].headers.__proto__', 'unknown key'],
      ['upstreams[0].options.__proto__', 'unknown key'],
    ],
  );
});
