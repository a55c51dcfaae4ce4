import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { openStore } from '../open-store.ts';
import { isConnectionLost, StoreAwayError, toPostgresError, whyUnfit } from './postgres-faults.ts';
import { nameOf } from './postgres-store.ts';

const cwd = '/nowhere';
const secret = 'hunter22-secret';

async function listen(t: TestContext, onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  assert.ok(address !== null && typeof address !== 'string');
  return address.port;
}

async function faultOf(url: string): Promise<string> {
  const error: unknown = await openStore(url, { cwd }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Error && error.name === 'StoreError', String(error));
  assert.equal(error.message.includes(secret), false);
  return error.message;
}

test('an absent, silent or disconnecting server is unreachable, and the password is not shown', async (t) => {
  const silent = await listen(t, () => undefined);
  const rude = await listen(t, (socket) => socket.destroy());
  const other = await listen(t, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  for (const port of [1, silent, rude, other]) {
    const fault = await faultOf(`postgres://me:${secret}@127.0.0.1:${port}/db`);
    assert.match(
      fault,
      new RegExp(`^The store in PostgreSQL at 127\\.0\\.0\\.1:${port} \\(database "db"\\) cannot be reached`),
    );
  }
});

test('an unknown sslmode is refused with the valid ones', async () => {
  for (const mode of ['prefer', 'allow', 'yes', '']) {
    const fault = await faultOf(`postgres://me:${secret}@127.0.0.1:1/db?sslmode=${mode}`);
    assert.match(fault, /sslmode is one of disable, require, verify-ca and verify-full/);
  }
});

test('messages name the database without user and password', () => {
  assert.equal(
    nameOf(`postgres://me:${secret}@db.example:6432/app?x=1`),
    'The store in PostgreSQL at db.example:6432 (database "app")',
  );
  assert.equal(nameOf(`postgresql://me:${secret}@db.example`), 'The store in PostgreSQL at db.example');
  assert.equal(
    nameOf(`postgres:///app?host=/run/postgresql`),
    'The store in PostgreSQL at /run/postgresql (database "app")',
  );
  assert.equal(nameOf(`postgres://me:${secret}@:x/`), 'The store in PostgreSQL');
});

test('an unsuitable PostgreSQL server is refused with the requirements', () => {
  const good = { version: 150_012, encoding: 'UTF8', isStandby: false };
  assert.equal(whyUnfit(good, 'It'), undefined);
  assert.equal(whyUnfit({ ...good, version: 140_020 }, 'It'), 'It is PostgreSQL 14; Postern needs 15 or newer.');
  assert.equal(whyUnfit({ ...good, version: 90_624 }, 'It'), 'It is PostgreSQL 9; Postern needs 15 or newer.');
  assert.match(whyUnfit({ ...good, encoding: 'LATIN1' }, 'It') ?? '', /encoding UTF8/);
  assert.match(whyUnfit({ ...good, isStandby: true }, 'It') ?? '', /point "store" at the primary/);
});

test('distinguishes temporary failures from configuration faults, and leaves programming errors unchanged', () => {
  const thrown = (code: string, severity?: string) =>
    Object.assign(new Error('said'), { code }, severity && { severity });
  for (const code of ['ECONNREFUSED', '57P03', '53300', '40001', '57014', '25006', '53100']) {
    assert.ok(toPostgresError(thrown(code), 'It') instanceof StoreAwayError, code);
  }
  for (const code of ['28P01', '3D000', '42501', 'CERT_HAS_EXPIRED']) {
    const error = toPostgresError(thrown(code), 'It');
    assert.ok(error instanceof Error && error.name === 'StoreError' && !(error instanceof StoreAwayError), code);
  }
  const ours = thrown('42601', 'ERROR');
  assert.equal(toPostgresError(ours, 'It'), ours);
  const both = new AggregateError([thrown('ECONNREFUSED'), thrown('ECONNREFUSED')]);
  assert.ok(toPostgresError(both, 'It') instanceof StoreAwayError);
});

test("a connection is reused after a server's error, not after a network failure", () => {
  const thrown = (parts: object) => Object.assign(new Error('Query read timeout'), parts);
  assert.equal(isConnectionLost(thrown({})), true);
  assert.equal(isConnectionLost(thrown({ code: 'EPIPE' })), true);
  assert.equal(isConnectionLost(thrown({ code: '57P01', severity: 'FATAL' })), true);
  assert.equal(isConnectionLost(thrown({ code: '25P03', severity: 'FATAL' })), true);
  assert.equal(isConnectionLost(thrown({ code: '23505', severity: 'ERROR' })), false);
  assert.equal(isConnectionLost(thrown({ code: '57014', severity: 'ERROR' })), false);
});
