import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { writeMessage } from './head-writer.ts';

const messageOf = (letter: string): readonly [head: string, body: Buffer] => [
  '\xe9: \r\n',
  Buffer.alloc(9_000, letter),
];

test('heads and bodies that wait for a slow reader are not overwritten by later messages', async (t) => {
  const accepted: Socket[] = [];
  const server = createServer({ pauseOnConnect: true }, (socket) => accepted.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const socket = connect(address.port, '127.0.0.1');
  t.after(() => {
    socket.destroy();
    for (const one of accepted) one.destroy();
    server.close();
  });
  await once(socket, 'connect');

  const letters: string[] = [];
  for (let waiting = 0; waiting < 5; ) {
    const letter = String.fromCharCode(97 + (letters.length % 26));
    const [head, body] = messageOf(letter);
    writeMessage(socket, head, [body.subarray(0, 4_000), body.subarray(4_000)]);
    letters.push(letter);
    if (socket.writableLength > 0) waiting += 1;
  }
  socket.end();

  const expected = Buffer.concat(
    letters.flatMap((letter) => [Buffer.from('\xe9: \r\n', 'latin1'), messageOf(letter)[1]]),
  );
  const received: Buffer[] = [];
  for await (const piece of accepted[0] ?? []) received.push(piece);
  assert.ok(Buffer.concat(received).equals(expected));
});
