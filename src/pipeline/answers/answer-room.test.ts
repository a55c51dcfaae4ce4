import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../core/errors.ts';
import type { Exchange } from '../../core/exchange.ts';
import type { Room, RoomKeeper } from '../../core/room.ts';
import { AnswerRoom } from './answer-room.ts';

const KiB = 1024;
const client = { gone: false, work: undefined };

/** An exchange, and a keeper that gives it room up to so much. */
function setUp(mostBytes = Number.POSITIVE_INFINITY) {
  const exchange = {
    key: { id: 'dev' },
    snapshot: { server: { bodyWaitMs: 5 } },
    client,
    answerRoom: undefined,
  } as unknown as Exchange;
  const entered: number[] = [];
  const rooms = {
    enter: async (_seeker: unknown, bytes: number): Promise<Room> => {
      if (bytes > mostBytes) throw new GatewayError('overloaded');
      entered.push(bytes);
      const room = {
        bytes,
        growTo(wanted: number): boolean {
          if (wanted > mostBytes) return false;
          room.bytes = Math.max(room.bytes, wanted);
          return true;
        },
        shrinkTo(wanted: number): void {
          room.bytes = Math.min(room.bytes, wanted);
        },
        release: () => undefined,
      };
      return room;
    },
  } as unknown as RoomKeeper;
  const held = (): number | undefined => exchange.answerRoom?.bytes;
  return { exchange, entered, held, begin: () => new AnswerRoom(exchange, rooms, client) };
}

test('an answer holds twice what is announced of it, and twice what comes beyond that', async () => {
  const { entered, held, begin } = setUp();
  const room = begin();
  assert.equal(await room.begin(100 * KiB), undefined);
  assert.deepEqual(entered, [200 * KiB]);
  assert.equal(room.read(100 * KiB), undefined);
  assert.equal(held(), 200 * KiB);
  assert.equal(room.read(1), undefined);
  assert.equal(held(), 200 * KiB + 2 * (100 * KiB + 1), 'as much again at a time as came by then');
});

test('an answer that grows is refused where there is no room for twice of it', async () => {
  const { begin } = setUp(100 * KiB);
  const room = begin();
  assert.equal(await room.begin(0), undefined);
  for (let n = 0; n < 3; n += 1) assert.equal(room.read(16 * KiB), undefined);
  assert.equal(room.read(16 * KiB)?.code, 'overloaded');
});

test('what one conversation held is given back, and what others of the exchange hold is not', async () => {
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
