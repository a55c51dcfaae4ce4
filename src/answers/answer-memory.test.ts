import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { MemoryLease, MemoryPool } from '../core/memory-lease.ts';
import { AnswerMemory } from './answer-memory.ts';

const KiB = 1024;
const client = { gone: false, work: undefined };

/** An exchange, and a pool with so much memory for it. */
function setUp(mostBytes = Number.POSITIVE_INFINITY) {
  const exchange = {
    key: { id: 'dev' },
    snapshot: { server: { bodyWaitMs: 5 } },
    client,
    answerLease: undefined,
  } as unknown as Exchange;
  const entered: number[] = [];
  const pool = {
    enter: async (_leaseRequest: unknown, bytes: number): Promise<MemoryLease> => {
      if (bytes > mostBytes) throw new GatewayError('overloaded');
      entered.push(bytes);
      const memory = {
        bytes,
        growTo(wanted: number): boolean {
          if (wanted > mostBytes) return false;
          memory.bytes = Math.max(memory.bytes, wanted);
          return true;
        },
        shrinkTo(wanted: number): void {
          memory.bytes = Math.min(memory.bytes, wanted);
        },
        release: () => undefined,
      };
      return memory;
    },
  } as unknown as MemoryPool;
  const held = (): number | undefined => exchange.answerLease?.bytes;
  return { exchange, entered, held, begin: () => new AnswerMemory(exchange, pool, client) };
}

test('reserves memory for twice the announced size of a response, and for twice whatever exceeds that size', async () => {
  const { entered, held, begin } = setUp();
  const memory = begin();
  assert.equal(await memory.begin(100 * KiB), undefined);
  assert.deepEqual(entered, [200 * KiB]);
  assert.equal(memory.read(100 * KiB), undefined);
  assert.equal(held(), 200 * KiB);
  assert.equal(memory.read(1), undefined);
  assert.equal(held(), 200 * KiB + 2 * (100 * KiB + 1), 'as much again at a time as came by then');
});

test('responses of one conversation that begin together share one memory lease, or are refused together', async () => {
  const { entered, held, begin } = setUp();
  const memory = begin();
  assert.deepEqual(await Promise.all([memory.begin(32 * KiB), memory.begin(64 * KiB)]), [undefined, undefined]);
  assert.deepEqual(entered, [64 * KiB]);
  assert.equal(held(), 192 * KiB);
  memory.giveBack();
  assert.equal(held(), 0);
  const none = setUp(1).begin();
  const failures = await Promise.all([none.begin(32 * KiB), none.begin(64 * KiB)]);
  assert.deepEqual(
    failures.map((failure) => failure?.code),
    ['overloaded', 'overloaded'],
  );
});

test('refuses a growing response when memory for twice its size is unavailable', async () => {
  const { begin } = setUp(100 * KiB);
  const memory = begin();
  assert.equal(await memory.begin(0), undefined);
  for (let n = 0; n < 3; n += 1) assert.equal(memory.read(16 * KiB), undefined);
  assert.equal(memory.read(16 * KiB)?.code, 'overloaded');
});

test('releases the memory of one conversation and keeps that of other conversations in the request', async () => {
  const { held, begin } = setUp();
  const [first, second] = [begin(), begin()];
  await first.begin(32 * KiB);
  await second.begin(64 * KiB);
  assert.equal(held(), 192 * KiB);
  second.giveBack();
  assert.equal(held(), 64 * KiB);
  second.giveBack();
  assert.equal(held(), 64 * KiB);
  first.giveBack();
  assert.equal(held(), 0);
});
