import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect } from '../../test/support/clients/raw-connection.ts';
import { toBlockList } from '../lib/addresses/address-range.ts';
import { createAddressCap } from './address-cap.ts';

async function open(t: TestContext, maxConnectionsPerAddress: number | undefined, proxies: readonly string[] = []) {
  const cap = createAddressCap();
  const trustedProxies = proxies.length === 0 ? undefined : toBlockList(proxies);
  cap.apply({ maxConnectionsPerAddress, trustedProxies });
  const server = createServer((socket) => {
    cap.admit(socket);
    if (!socket.destroyed) socket.write('welcome');
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const come = async (localAddress: string) => {
    const connection = await connect(address.port, { localAddress });
    t.after(() => connection.destroy());
    return connection;
  };
  return { cap, come, trustedProxies };
}

test('one address holds as many as the operator says, and another has its own', async (t) => {
  const { come } = await open(t, 2);
  const [first, second] = [await come('127.0.0.2'), await come('127.0.0.2')];
  for (const one of [first, second]) await one.sees('welcome');
  assert.notEqual(await (await come('127.0.0.2')).closed(), 'open');
  await (await come('127.0.0.3')).sees('welcome');
  first.destroy();
  // Its end has to come here first.
  for (let turn = 0; turn < 1_000; turn += 1) {
    const next = await come('127.0.0.2');
    if ((await Promise.race([next.sees('welcome').then(() => 'open'), next.closed()])) === 'open') return;
  }
  assert.fail('a connection that ended still counts');
});

test('proxies are never counted, and without a number nobody is', async (t) => {
  const behind = await open(t, 1, ['127.0.0.0/30']);
  for (let turn = 0; turn < 5; turn += 1) await (await behind.come('127.0.0.2')).sees('welcome');
  const free = await open(t, undefined);
  for (let turn = 0; turn < 5; turn += 1) await (await free.come('127.0.0.2')).sees('welcome');
});

test('another number holds for whoever comes from then on', async (t) => {
  const { cap, come } = await open(t, 3);
  await (await come('127.0.0.2')).sees('welcome');
  cap.apply({ maxConnectionsPerAddress: 1, trustedProxies: undefined });
  assert.notEqual(await (await come('127.0.0.2')).closed(), 'open');
});
