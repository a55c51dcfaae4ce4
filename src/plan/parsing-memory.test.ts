/** Bodies of many small values: parsing them needs memory, without which they are refused. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../core/errors.ts';
import type { MemoryLease } from '../core/memory-lease.ts';
import { enter } from '../pipeline/client-api.ts';
import { routes } from '../routes/index.ts';
import { chat } from '../routes/openai.ts';
import { namedObjectsIn } from './named-objects.ts';
import { ParsingMemory } from './parsing-memory.ts';
import { questionReaderOf } from './question.ts';

const MiB = 1024 ** 2;

class LeaseOf implements MemoryLease {
  bytes = MiB;
  /** Its maximum. */
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

async function findNames(memory: MemoryLease): Promise<void> {
  const body = Buffer.from(JSON.stringify({ model: 'm', messages: values, file_id: {} }));
  await namedObjectsIn(await questionReaderOf(chat)(body), chat, new ParsingMemory(memory));
}

async function enterAtClientApi(memory: MemoryLease): Promise<void> {
  const route = routes.find(({ path }) => path === '/v2/embed') ?? assert.fail();
  const { entry = assert.fail() } = route;
  const asked = await questionReaderOf(route)(Buffer.from(JSON.stringify({ model: 'm', texts: ['x'], more: values })));
  await enter(entry, asked, new ParsingMemory(memory), {
    upstreamNames: () => [],
  });
}

test('parsing a body reserves memory, and is refused as overloaded if there is not enough', async () => {
  for (const read of [findNames, enterAtClientApi]) {
    await assert.rejects(async () => read(new LeaseOf(2 * MiB)), isOverloaded, read.name);
    const memory = new LeaseOf(8 * MiB);
    await read(memory);
    assert.ok(memory.most > 4 * MiB, `${read.name}: ${memory.most} bytes`);
  }
});

test('the search for object IDs releases its parsing memory when it ends', async () => {
  const memory = new LeaseOf(8 * MiB);
  await findNames(memory);
  assert.equal(memory.bytes, MiB);
});
