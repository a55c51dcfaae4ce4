import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { toRequestBytes } from '../../test/support/clients/raw-client.ts';
import { connect } from '../../test/support/clients/raw-connection.ts';
import { until } from '../../test/support/time/until.ts';
import { toBlockList } from '../lib/addresses/address-range.ts';
import { createWireServer } from '../wire/server.ts';
import { ConnectionQuota, type QuotaSettings } from './connection-quota.ts';

const wireSettings = {
  headBytes: 8 * 1024,
  fields: { fields: 50, fieldBytes: 8 * 1024 },
  headMs: 60_000,
  requestMs: 60_000,
  keepAliveMs: 60_000,
  answersHalfClosed: false,
};
const ping = toRequestBytes({ path: '/ping', method: 'GET' });
const hold = toRequestBytes({ path: '/hold', method: 'GET' });

/** Clients from 127.0.0.x; `asFrom` is what their addresses begin with where they arrive. */
async function open(t: TestContext, wanted: Partial<QuotaSettings>, asFrom = '127.0.0') {
  let held = 0;
  const wire = createWireServer(
    {
      onRequest: ({ target }, answer) => {
        if (target === '/hold') held += 1;
        else answer.send(200, [], 'pong');
      },
      answerTo: () => 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n',
    },
    wireSettings,
  );
  const settings: QuotaSettings = {
    maxConnections: 1_000,
    maxConnectionsPerAddress: undefined,
    trustedProxies: undefined,
    logClientAddress: false,
    ...wanted,
  };
  const lines: Record<string, unknown>[] = [];
  const log = {
    info: () => undefined,
    warn: (msg: string, fields?: Record<string, unknown>) => void lines.push({ msg, ...fields }),
    error: () => undefined,
  };
  const quota = new ConnectionQuota([wire], settings, log);
  wire.server.prependListener('connection', (socket: Socket) => {
    const value = socket.remoteAddress?.replace('127.0.0', asFrom);
    Object.defineProperty(socket, 'remoteAddress', { value });
  });
  await new Promise<void>((resolve) => wire.server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    wire.closeAll();
    wire.server.close();
  });
  const address = wire.server.address();
  assert.ok(address !== null && typeof address === 'object');
  const come = async (localAddress = '127.0.0.1') => {
    const connection = await connect(address.port, { localAddress });
    t.after(() => connection.destroy());
    return connection;
  };
  /** Whether a client that comes now is answered; it stays. */
  const isServed = async (localAddress?: string): Promise<boolean> => {
    const connection = await come(localAddress);
    await connection.write(ping);
    return (await connection.nextResponse()).status === 200;
  };
  /** Resolves once so many requests have come that are not answered. */
  const holds = async (count: number): Promise<void> => {
    await until(() => held >= count);
  };
  return { quota, settings, lines, come, isServed, holds };
}

test('connections from one address are limited to the configured number', async (t) => {
  const { come, isServed } = await open(t, { maxConnectionsPerAddress: 2 });
  const first = await come('127.0.0.2');
  assert.equal(await isServed('127.0.0.2'), true);
  assert.equal(await isServed('127.0.0.2'), false);
  assert.equal(await isServed('127.0.0.3'), true);
  first.destroy();
  // Its end has to come here first.
  for (let turn = 0; turn < 1_000; turn += 1) if (await isServed('127.0.0.2')) return;
  assert.fail('a connection that ended still counts');
});

test('a changed connection limit applies to new connections', async (t) => {
  const { quota, settings, isServed } = await open(t, { maxConnectionsPerAddress: 3 });
  assert.equal(await isServed('127.0.0.2'), true);
  quota.apply({ ...settings, maxConnectionsPerAddress: 1 });
  assert.equal(await isServed('127.0.0.2'), false);
});

test('without a limit, one address gets a tenth of the connections once 80 % are open, and the log gives advice', async (t) => {
  const { isServed, lines } = await open(t, { maxConnections: 20 }, '10.0.0');
  for (let turn = 0; turn < 16; turn += 1) assert.equal(await isServed('127.0.0.2'), true, `connection ${turn}`);
  for (let turn = 0; turn < 3; turn += 1) assert.equal(await isServed('127.0.0.2'), false);
  assert.deepEqual([await isServed('127.0.0.3'), await isServed('127.0.0.3')], [true, true]);
  assert.equal(await isServed('127.0.0.3'), false);
  // A line a minute; an address is shown only where the operator wants it.
  assert.equal(lines.length, 1);
  const [{ msg, reason, limit, client_address: address, advice } = {}] = lines;
  assert.deepEqual(
    [msg, reason, limit, address],
    ['client connections refused', 'max_connections_per_address', 2, undefined],
  );
  assert.match(String(advice), /server\.trusted_proxies/);
});

test('trusted proxies have no connection limit per address, and loopback has one only if it is configured', async (t) => {
  const proxies = await open(t, { maxConnections: 10, trustedProxies: toBlockList(['10.0.0.0/30']) }, '10.0.0');
  const loopback = await open(t, { maxConnections: 10 });
  for (const { isServed } of [proxies, loopback]) {
    for (let turn = 0; turn < 10; turn += 1) assert.equal(await isServed('127.0.0.2'), true, `connection ${turn}`);
  }
  const named = await open(t, { maxConnectionsPerAddress: 1, trustedProxies: toBlockList(['10.0.0.0/30']) }, '10.0.0');
  for (let turn = 0; turn < 3; turn += 1) assert.equal(await named.isServed('127.0.0.2'), true);
});

test('at the limit, a new connection closes the longest idle one, and never one with a request', async (t) => {
  const { come, isServed, lines, holds } = await open(t, { maxConnections: 4 });
  const [busy, partial, older, newer] = [await come(), await come(), await come(), await come()];
  await busy.write(hold);
  await partial.write(ping.subarray(0, 10));
  await holds(1);
  for (const one of [older, newer]) {
    await one.write(ping);
    assert.equal((await one.nextResponse()).status, 200);
  }
  assert.equal(await isServed(), true);
  assert.notEqual(await older.closed(), 'open');
  await newer.write(ping);
  assert.equal((await newer.nextResponse()).status, 200);
  assert.deepEqual(
    lines.map(({ msg, limit }) => [msg, limit]),
    [['idle client connections closed', 4]],
  );
  await partial.write(ping.subarray(10));
  assert.equal((await partial.nextResponse()).status, 200);
});

test('at the limit and without an idle connection, a new connection is refused', async (t) => {
  const { come, isServed, lines, holds } = await open(t, { maxConnections: 2 });
  for (const one of [await come(), await come()]) await one.write(hold);
  await holds(2);
  assert.equal(await isServed(), false);
  assert.deepEqual(
    lines.map(({ msg, reason }) => [msg, reason]),
    [['client connections refused', 'max_connections']],
  );
});
