import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loaded } from '../../../test/support/gateways/configuration.ts';

test('every setting that is not in force is noticed where it stands', async (t) => {
  const text = `upstreams:
  - { id: a, family: openai }
models:
  - id: m
    operations: [edits]
    coalesce: true
    targets:
      - { upstream: a }
`;
  const { notices } = await loaded(t, text);
  assert.deepEqual(
    notices.map((notice) => notice.replace(' has no effect in this version', '')),
    ['models[0].coalesce'],
  );
});

test('to spell a default, or to switch something off, is no notice', async (t) => {
  const text = `console: { host: 127.0.0.1, port: 4001 }
upstreams: [{ id: a, family: openai, base64: pass }]
models: [{ id: m, operations: [edits], coalesce: false, targets: [{ upstream: a, priority: 0, weight: 1 }] }]
`;
  const { notices } = await loaded(t, text);
  assert.deepEqual(notices, []);
});
