import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Caller } from '../caller.ts';
import { createOnce } from './api.ts';

const member: Caller = {
  kind: 'member',
  memberId: 'm1',
  name: 'Ada',
  role: 'admin',
  sessionId: 's',
  csrfToken: 'c',
  provedAtMs: undefined,
};

function rig() {
  let nowMs = 0;
  const once = createOnce({ monotonicMs: () => nowMs });
  let count = 0;
  const ask = async (parts: { caller?: Caller; path?: string; body?: string; key?: string; fails?: boolean } = {}) => {
    const { caller = member, path = '/api/keys', body = '{}', key = 'k', fails = false } = parts;
    const request = new Request(`http://127.0.0.1${path}`, { method: 'POST' });
    const response = await once({ caller, request, body: Buffer.from(body), key }, async () => {
      count += 1;
      const number = count;
      await new Promise((resolve) => setImmediate(resolve));
      if (fails) throw new Error('broken');
      return Response.json({ number });
    });
    return Reflect.get(Object(await response.json()), 'number');
  };
  return {
    ask,
    count: () => count,
    advance(ms: number) {
      nowMs += ms;
    },
  };
}

test('a repeated Idempotency-Key runs the request once, even in parallel', async () => {
  const { ask, count } = rig();
  assert.deepEqual(await Promise.all([ask(), ask(), ask()]), [1, 1, 1]);
  assert.equal(await ask(), 1);
  assert.equal(count(), 1);
});

test('the same Idempotency-Key with another body is refused', async () => {
  const { ask, count } = rig();
  await ask({ body: '{"name":"a"}' });
  await assert.rejects(ask({ body: '{"name":"b"}' }), { code: 'key_used_before' });
  assert.equal(count(), 1);
});

test('another caller with the same Idempotency-Key never gets the stored response, not even with the same name', async () => {
  const { ask } = rig();
  assert.equal(await ask(), 1);
  assert.equal(await ask({ caller: { ...member, memberId: 'm2' } }), 2);
  assert.equal(await ask({ caller: { kind: 'token', tokenId: 'm1', memberId: 'm1', name: 'Ada', role: 'admin' } }), 3);
  assert.equal(await ask({ caller: { ...member, sessionId: 'another', name: 'Grace' } }), 1);
});

test('the same Idempotency-Key on another path is a separate request', async () => {
  const { ask } = rig();
  assert.equal(await ask({ path: '/api/keys/one/rotate' }), 1);
  assert.equal(await ask({ path: '/api/keys/two/rotate' }), 2);
});

test('a failed request can be repeated with the same Idempotency-Key', async () => {
  const { ask } = rig();
  await assert.rejects(ask({ fails: true }), /broken/);
  assert.equal(await ask(), 2);
});

test('the stored response to an Idempotency-Key is forgotten after ten minutes', async () => {
  const { ask, advance } = rig();
  await ask();
  advance(10 * 60_000 - 1);
  assert.equal(await ask(), 1);
  advance(1);
  assert.equal(await ask(), 2);
});

for (const key of ['', 'two words', 'x'.repeat(201), 'ü']) {
  test(`${JSON.stringify(key.slice(0, 20))} is not a valid Idempotency-Key`, async () => {
    await assert.rejects(rig().ask({ key }), { code: 'malformed_request' });
  });
}
