import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { toRequestBytes } from '../../test/support/clients/raw-client.ts';
import { connect } from '../../test/support/clients/raw-connection.ts';
import { createWireServer } from './server.ts';

const settings = {
  headBytes: 8 * 1024,
  fields: { fields: 50, fieldBytes: 8 * 1024 },
  headMs: 60_000,
  requestMs: 60_000,
  keepAliveMs: 60_000,
  answersHalfClosed: true,
};

test('a client that half-closes within its request gets a long answer whole, and the answer is reported as whole', async (t) => {
  const text = 'x'.repeat(16 * 1024 * 1024);
  const ends: boolean[] = [];
  const wire = createWireServer(
    {
      // Without reading the body, and when the end of the client's side has been seen.
      onRequest: async (_request, answer) => {
        await wait(100);
        answer.ends = { onAnswerClosed: (isWhole) => ends.push(isWhole) };
        answer.send(403, [], text);
      },
      answerTo: () => 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n',
    },
    settings,
  );
  wire.server.listen(0, '127.0.0.1');
  await once(wire.server, 'listening');
  t.after(() => {
    wire.server.close();
    wire.closeAll();
  });
  const connection = await connect((wire.server.address() as AddressInfo).port, { timeoutMs: 10_000 });
  const request = toRequestBytes({ path: '/', body: '0123456789' });
  await connection.write(request.subarray(0, request.length - 7));
  connection.pause();
  connection.finish();
  await wait(300);
  connection.resume();
  const answer = await connection.nextResponse();
  assert.equal(answer.status, 403);
  assert.equal(answer.body.length, text.length);
  assert.equal(await connection.closed(), 'fin');
  assert.deepEqual(ends, [true]);
});
