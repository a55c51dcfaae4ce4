import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { giveBack, narrow, openPlain } from './connect.ts';

/** Bytes of a server that sends as many as it can, each block of another value. */
async function openLong(t: TestContext): Promise<Socket> {
  const server = createServer((socket) => {
    let value = 0;
    const send = (): void => {
      let isOpen = true;
      while (isOpen) {
        value += 1;
        isOpen = socket.writable && socket.write(Buffer.alloc(1024 * 1024, value));
      }
    };
    socket.on('drain', send).on('error', () => undefined);
    send();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const socket = openPlain({ secure: false, host: '127.0.0.1', port: address.port }, {});
  t.after(() => {
    socket.destroy();
    server.close();
  });
  return socket;
}

/** Lets it go on until so many pieces came that were not copied. */
function longPieces(socket: Socket, count: number, take: (piece: Buffer) => void): Promise<void> {
  return new Promise((resolve) => {
    let left = count;
    socket.on('data', (piece: Buffer) => {
      if (left === 0 || piece.buffer.byteLength !== 256 * 1024) return;
      take(piece);
      left -= 1;
      if (left === 0) resolve();
    });
  });
}

test('a read buffer that was not given back is never overwritten', async (t) => {
  const seen: { piece: Buffer; copy: Buffer }[] = [];
  await longPieces(await openLong(t), 40, (piece) => seen.push({ piece, copy: Buffer.from(piece) }));
  for (const { piece, copy } of seen) assert.ok(piece.equals(copy));
  assert.equal(new Set(seen.map(({ piece }) => piece.buffer)).size, seen.length);
});

test('a read buffer given back, itself or by a part of it, is used for further reads', async (t) => {
  const buffers = new Set<unknown>();
  await longPieces(await openLong(t), 100, (piece) => {
    buffers.add(piece.buffer);
    const part = piece.subarray(100);
    narrow(piece, part);
    // It stands for nothing any more, and the part comes back once.
    for (const one of [piece, part, part]) giveBack(one);
  });
  assert.ok(buffers.size < 10, String(buffers.size));
});

/** A server that sends as many bytes as it is asked for, each time of another value, in one write. */
async function openShort(t: TestContext, bytes: number): Promise<{ next(): Promise<Buffer> }> {
  let value = 0;
  const server = createServer((socket) => {
    socket.on('data', () => {
      value = (value + 1) % 256;
      socket.write(Buffer.alloc(bytes, value));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const socket = openPlain({ secure: false, host: '127.0.0.1', port: address.port }, {});
  let takeNext: (piece: Buffer) => void = () => undefined;
  socket.on('data', (piece: Buffer) => takeNext(piece));
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  t.after(() => {
    socket.destroy();
    server.close();
  });
  return {
    next: () =>
      new Promise((resolve) => {
        takeNext = resolve;
        socket.write('x');
      }),
  };
}

const isOwn = (piece: Buffer): boolean => piece.buffer.byteLength === 64 * 1024;

test('reads of some kilobytes are passed on without a copy, and their buffers are used again', async (t) => {
  const socket = await openShort(t, 20_000);
  const buffers = new Set<unknown>();
  let own = 0;
  for (let round = 0; round < 200; round += 1) {
    const piece = await socket.next();
    if (isOwn(piece)) {
      own += 1;
      buffers.add(piece.buffer);
    }
    giveBack(piece);
  }
  assert.ok(own > 150, String(own));
  assert.ok(buffers.size < 10, String(buffers.size));
});

test('reads of some kilobytes are copied once their buffers are repeatedly not given back', async (t) => {
  const socket = await openShort(t, 20_000);
  const seen: { piece: Buffer; copy: Buffer }[] = [];
  for (let round = 0; round < 400; round += 1) {
    const piece = await socket.next();
    seen.push({ piece, copy: Buffer.from(piece) });
  }
  for (const { piece, copy } of seen) assert.ok(piece.equals(copy));
  const own = seen.filter(({ piece }) => isOwn(piece)).length;
  assert.ok(own > 200 && own < 350, String(own));
});
