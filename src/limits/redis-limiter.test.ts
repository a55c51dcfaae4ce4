import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { noCaps } from '../core/caps.ts';
import { createRedisLimiter } from './redis-limiter.ts';

interface Line {
  readonly message: string;
  readonly reason: unknown;
}

const holders = [
  { kind: 'key', id: 'dev', caps: { ...noCaps, rates: [{ measure: 'requests', window: 'minute', most: 3 }] } },
] as const;

async function startLimiter(url: string, otherwiseKnown = () => 1) {
  const lines: Line[] = [];
  const note = (message: string, { reason }: Record<string, unknown> = {}): void => {
    lines.push({ message, reason });
  };
  const limiter = await createRedisLimiter({
    url,
    clock: { monotonicMs: () => performance.now() },
    node: 'node',
    log: { info: note, warn: note, error: note },
    random: () => 0,
    otherwiseKnown,
  });
  return { limiter, lines };
}

test('while Redis is unreachable, the limiter assumes two nodes, logs once, and never logs the password', async (t) => {
  const { limiter, lines } = await startLimiter('redis://user:battery-staple@127.0.0.1:1/2');
  t.after(() => limiter.close());
  assert.equal(limiter.isShared, false);
  const kinds: string[] = [];
  for (let i = 0; i < 4; i += 1) {
    const answer = limiter.reserve(holders, { requests: 1, tokens: 0, items: 0 });
    assert.ok(!(answer instanceof Promise), 'nobody waits for it');
    kinds.push(answer.kind);
  }
  assert.deepEqual(kinds, ['taken', 'refused', 'refused', 'refused']);
  assert.deepEqual(limiter.localDecisions, { late: 0, away: 4 });
  await new Promise((resolve) => setTimeout(resolve, 700));
  assert.equal(lines.length, 1);
  assert.match(String(lines[0]?.reason), /ECONNREFUSED/);
  assert.ok(!JSON.stringify(lines).includes('battery'));
});

test('each different reason why Redis is unreachable is logged once', async (t) => {
  let speak = (socket: Socket): unknown => socket.destroy();
  const server = createServer((socket) => speak(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { limiter, lines } = await startLimiter(`redis://127.0.0.1:${port}`);
  t.after(() => limiter.close());
  assert.equal(lines.length, 1);
  speak = (socket) => socket.on('data', () => socket.write('-NOAUTH Authentication required.\r\n'));
  while (lines.length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.match(String(lines[1]?.reason), /NOAUTH/);
  await new Promise((resolve) => setTimeout(resolve, 700));
  assert.equal(lines.length, 2);
});

test('a node that has not yet reached Redis divides the limit by the reported number of nodes', async (t) => {
  let nodes = 3;
  const { limiter } = await startLimiter('redis://127.0.0.1:1', () => nodes);
  t.after(() => limiter.close());
  const wide = [{ ...holders[0], caps: { ...noCaps, rates: [{ ...holders[0].caps.rates[0], most: 60 }] } }] as const;
  const take = async (): Promise<number> => {
    let taken = 0;
    while ((await limiter.reserve(wide, { requests: 1, tokens: 0, items: 0 })).kind === 'taken') taken += 1;
    return taken;
  };
  assert.equal(limiter.nodes, 3);
  assert.equal(await take(), 20);
  nodes = 2;
  assert.equal(await take(), 10);
});

for (const [what, speak] of [
  ['never answers', () => undefined],
  ['answers in HTTP', (socket: Socket) => socket.on('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'))],
  ['closes the connection at once', (socket: Socket) => socket.destroy()],
] as const) {
  test(`Redis counts as unreachable if the server ${what}`, async (t) => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      speak(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    const { limiter, lines } = await startLimiter(`redis://127.0.0.1:${address.port}`);
    t.after(async () => {
      await limiter.close();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    assert.equal(limiter.isShared, false);
    assert.equal(limiter.reserve(holders, { requests: 1, tokens: 0, items: 0 }) instanceof Promise, false);
    assert.equal(lines.length, 1);
  });
}
