import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { promotedBytes } from '../../test/support/time/promoted.ts';
import { type AnswerHandler, ClientCall } from './client-call.ts';
import { CallQueue } from './client-pool.ts';

const nothing = (): void => undefined;
const handler: AnswerHandler = {
  onStart: nothing,
  onSent: nothing,
  onFirstByte: nothing,
  onHead: nothing,
  onBody: nothing,
  onEnd: nothing,
  onError: nothing,
};

const newCall = (): ClientCall => new ClientCall({ method: 'POST', path: '/', headers: [] }, '', handler);

test('calls leave in the order of arrival, whichever others were removed', () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.constant('add' as const) },
    { weight: 2, arbitrary: fc.constant('shift' as const) },
    { weight: 1, arbitrary: fc.nat() },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = new CallQueue();
      const expected: ClientCall[] = [];
      for (const one of steps) {
        if (one === 'add') {
          const call = newCall();
          queue.add(call);
          expected.push(call);
        } else if (one === 'shift') {
          assert.equal(queue.shift(), expected.shift());
        } else {
          const [call = newCall()] = expected.splice(one % Math.max(expected.length, 1), 1);
          queue.remove(call);
        }
        assert.equal(queue.size, expected.length);
      }
      for (const call of expected) assert.equal(queue.shift(), call);
      assert.equal(queue.shift(), undefined);
    }),
  );
});

test('thousands of waiters served one by one keep their order', () => {
  const queue = new CallQueue();
  const calls = Array.from({ length: 5_000 }, newCall);
  for (const call of calls) queue.add(call);
  for (const call of calls) assert.equal(queue.shift(), call);
  assert.equal(queue.size, 0);
});

test('calls that have left the queue are garbage-collected at once', () => {
  const queue = new CallQueue();
  const bytes = promotedBytes(() => {
    queue.add(new ClientCall({ method: 'POST', path: '/', headers: [], body: [] }, '', { ...handler }));
    if (queue.size > 64) queue.shift();
  });
  assert.ok(bytes < 1_000_000, `${bytes} bytes were kept of 20,000 calls`);
});
