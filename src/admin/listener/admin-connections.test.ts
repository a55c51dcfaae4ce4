import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { request } from '../../../test/support/clients/raw-client.ts';
import { connect, type RawConnection } from '../../../test/support/clients/raw-connection.ts';
import { createAdminListener } from './listener.ts';

/** All of 127.0.0.0/8 is this machine, so that many addresses are available. */
async function open(t: TestContext, proxies: readonly string[] = []) {
  const listener = createAdminListener({
    settings: () => ({
      host: '127.0.0.1',
      port: 0,
      isPortGiven: true,
      token: undefined,
      url: undefined,
      traceUrl: undefined,
      oidc: undefined,
    }),
    pages: { '/metrics': { type: () => 'text/plain', text: () => 'up 1\n' } },
    // A page or a live view that lasts as long as its reader wants.
    answer: (request, response) => {
      response.writeHead(200);
      if (request.url === '/live') response.write('x');
      else response.end('page');
    },
    isProxy: (address) => proxies.includes(address),
    onFault: (error) => assert.fail(String(error)),
  });
  const { port } = await listener.listen();
  t.after(() => listener.close());
  const host = `Host: 127.0.0.1:${port}\r\n`;

  const come = (localAddress = '127.0.0.1') => connect(port, { localAddress });
  async function crowd(count: number, localAddress?: string) {
    const all: RawConnection[] = [];
    for (let turn = 0; turn < count; turn += 1) all.push(await come(localAddress));
    t.after(() => {
      for (const one of all) one.destroy();
    });
    return all;
  }
  /** Each has an endless request. */
  async function live(count: number, localAddress?: string) {
    const all = await crowd(count, localAddress);
    for (const one of all) await one.write(`GET /live HTTP/1.1\r\n${host}\r\n`);
    for (const one of all) await one.sees('200 OK');
    return all;
  }
  const ask = (path: string, headers: [string, string][] = [['Host', `127.0.0.1:${port}`]]) =>
    request({ port, method: 'GET', path, headers });
  return { port, host, come, crowd, live, ask };
}

test('when idle connections fill the listener, the longest idle one is closed for a new one', async (t) => {
  const { crowd, ask } = await open(t);
  const idle = [];
  for (const address of ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6']) {
    idle.push(...(await crowd(60, address)));
  }
  assert.deepEqual([(await ask('/metrics')).status, (await ask('/page')).status], [200, 200]);
  // 128 idle ones are kept, and those two were closed.
  assert.notEqual(await idle[0]?.closed(), 'open');
  assert.notEqual(await idle[171]?.closed(), 'open');
  const last = idle.at(-1);
  await last?.write('GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  await last?.sees('up 1');
});

test('an address that exceeds its share of connections loses its own idle ones, and other addresses lose none', async (t) => {
  const { crowd, come, host } = await open(t);
  const other = await come('127.0.0.9');
  const greedy = await crowd(66, '127.0.0.2');
  assert.notEqual(await greedy[0]?.closed(), 'open');
  assert.notEqual(await greedy[1]?.closed(), 'open');
  for (const one of [greedy[2], greedy[65], other]) {
    await one?.write(`GET /metrics HTTP/1.1\r\n${host}\r\n`);
    await one?.sees('up 1');
  }
});

test('when all connections are busy, requests for metrics are still served, one at a time', async (t) => {
  const { live, ask, come } = await open(t);
  await live(64, '127.0.0.2');
  // Of the same address: it has no idle connection to close.
  const refused = await ask('/page', [['Host', '127.0.0.1']]);
  assert.equal(refused.status, 200, 'another address has its own share');
  for (const address of ['127.0.0.3', '127.0.0.4', '127.0.0.5']) await live(64, address);
  const late = await ask('/page');
  assert.deepEqual([late.status, late.header('retry-after'), late.header('connection')], [503, '5', 'close']);
  for (let turn = 0; turn < 20; turn += 1) {
    const metrics = await ask('/metrics');
    assert.deepEqual([metrics.status, metrics.header('connection')], [200, 'close']);
  }
  // Silent connections block no other.
  const silent = [];
  for (let turn = 0; turn < 17; turn += 1) silent.push(await come());
  assert.notEqual(await silent[0]?.closed(), 'open');
  assert.equal((await ask('/metrics')).status, 200);
  for (const one of silent) one.destroy();
});

test("clients behind a trusted proxy do not share one address's quota of connections", async (t) => {
  const { live, ask } = await open(t, ['127.0.0.1']);
  await live(70);
  assert.equal((await ask('/page')).status, 200);
});

test('idle connections are kept for a shorter time when more connections are open', async (t) => {
  const { live, ask } = await open(t);
  assert.equal((await ask('/metrics')).header('keep-alive'), 'timeout=75');
  for (const address of ['127.0.0.2', '127.0.0.3', '127.0.0.4']) await live(43, address);
  assert.equal((await ask('/metrics')).header('keep-alive'), 'timeout=5');
});
