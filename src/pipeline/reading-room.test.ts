/** Bodies of many small values: what is read of them needs room, and where there is none they are turned away. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../core/errors.ts';
import type { Room } from '../core/room.ts';
import chat from '../routes/chat.ts';
import { routes } from '../routes/index.ts';
import { enter } from './client-api.ts';
import { namedObjectsIn } from './objects/named-objects.ts';
import { compileQuestionReader } from './question.ts';
import { ReadingRoom } from './reading-room.ts';

const MiB = 1024 ** 2;

class RoomOf implements Room {
  bytes = MiB;
  /** What it held at any time. */
  most = 0;
  readonly #limitBytes: number;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  growTo(bytes: number): boolean {
    if (bytes > this.#limitBytes) return false;
    this.bytes = Math.max(this.bytes, bytes);
    this.most = Math.max(this.most, this.bytes);
    return true;
  }

  shrinkTo(bytes: number): void {
    this.bytes = Math.min(this.bytes, bytes);
  }

  release(): void {
    this.bytes = 0;
  }
}

const isOverloaded = (error: unknown): boolean => error instanceof GatewayError && error.code === 'overloaded';
const values = Array.from({ length: 40_000 }, () => ({}));

async function findNames(room: Room): Promise<void> {
  const body = Buffer.from(JSON.stringify({ model: 'm', messages: values, file_id: {} }));
  await namedObjectsIn(await compileQuestionReader(chat)(body), chat, new ReadingRoom(room));
}

async function enterAtClientApi(room: Room): Promise<void> {
  const route = routes.find(({ path }) => path === '/v2/embed') ?? assert.fail();
  const { entry = assert.fail() } = route;
  const asked = await compileQuestionReader(route)(
    Buffer.from(JSON.stringify({ model: 'm', texts: ['x'], more: values })),
  );
  await enter(entry, asked, compileQuestionReader(entry.canonical), new ReadingRoom(room), { upstreamNames: () => [] });
}

test('what is read of a body has room beside it, and none where there is none', async () => {
  for (const read of [findNames, enterAtClientApi]) {
    await assert.rejects(async () => read(new RoomOf(2 * MiB)), isOverloaded, read.name);
    const room = new RoomOf(8 * MiB);
    await read(room);
    assert.ok(room.most > 4 * MiB, `${read.name}: ${room.most} bytes`);
  }
});

test('what is looked through, and not kept, gives its room back', async () => {
  const room = new RoomOf(8 * MiB);
  await findNames(room);
  assert.equal(room.bytes, MiB);
});
