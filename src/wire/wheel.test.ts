import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promotedBytes } from '../../test/support/time/promoted.ts';
import { type Bucket, Wheel } from './wheel.ts';

class Item {
  dueMs: number;
  bucket: Bucket | undefined = undefined;
  bucketIndex = 0;
  readonly calls: number[] = [];

  constructor(inMs: number) {
    this.dueMs = performance.now() + inMs;
  }

  onDue(nowMs: number): void {
    this.calls.push(nowMs);
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5);
}

test('each timeout fires once, never early, and the timer wheel stops when empty', async () => {
  const wheel = new Wheel(10);
  const items = [0, 5, 30, 60, 61, -100].map((inMs) => new Item(inMs));
  for (const item of items) wheel.add(item);
  await until(() => items.every(({ calls }) => calls.length > 0));
  for (const { dueMs, calls } of items) {
    assert.equal(calls.length, 1);
    assert.ok((calls[0] ?? 0) >= dueMs);
  }
  assert.equal(wheel.size, 0);
});

test('a postponed timeout fires at the later time', async () => {
  const wheel = new Wheel(10);
  const item = new Item(20);
  wheel.add(item);
  item.dueMs += 60;
  await until(() => item.calls.length > 0);
  assert.ok((item.calls[0] ?? 0) >= item.dueMs);
});

test('data waiting at a socket is read before a timeout fires, even after the event loop was blocked', async (t) => {
  const wheel = new Wheel(5);
  const item = new Item(30);
  const server = createServer((socket) => socket.on('data', () => (item.dueMs = performance.now() + 60_000)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1');
  t.after(() => {
    client.destroy();
    server.close();
    wheel.remove(item);
  });
  await Promise.all([once(client, 'connect'), once(server, 'connection')]);
  wheel.add(item);
  client.write('late, and in time');
  const heldUntilMs = performance.now() + 100;
  while (performance.now() < heldUntilMs);
  await sleep(20);
  assert.deepEqual(item.calls, []);
});

test('a timeout added again with an earlier time fires then, and is held only once', async () => {
  const wheel = new Wheel(10);
  const item = new Item(60_000);
  wheel.add(item);
  item.dueMs = performance.now() + 20;
  wheel.add(item);
  wheel.add(item);
  assert.equal(wheel.size, 1);
  await until(() => item.calls.length > 0);
});

test('a removed timeout does not fire', async () => {
  const wheel = new Wheel(5);
  const [gone, other] = [new Item(10), new Item(40)];
  wheel.add(gone);
  wheel.add(other);
  wheel.remove(gone);
  wheel.remove(gone);
  await until(() => other.calls.length > 0);
  assert.deepEqual(gone.calls, []);
});

test('a timer wheel that stopped starts again with the next timeout', async () => {
  const wheel = new Wheel(5);
  for (let round = 0; round < 3; round += 1) {
    const item = new Item(1);
    wheel.add(item);
    await until(() => item.calls.length > 0);
    await sleep(20);
  }
});

test('timeouts that have left the wheel are garbage-collected at once', () => {
  const wheel = new Wheel(1_000);
  const waiting: (Item & { held: number[] })[] = [];
  const bytes = promotedBytes(() => {
    const item = Object.assign(new Item(60_000), { held: Array.from({ length: 100 }, Math.random) });
    wheel.add(item);
    if (waiting.push(item) <= 64) return;
    const [first] = waiting.splice(0, 1);
    if (first !== undefined) wheel.remove(first);
  });
  for (const item of waiting) wheel.remove(item);
  assert.ok(bytes < 2_000_000, `${bytes} bytes were kept of 20,000 items of 1 KB`);
});
