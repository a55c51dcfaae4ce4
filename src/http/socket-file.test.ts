import assert from 'node:assert/strict';
import { once } from 'node:events';
import { access, link, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { removeStaleSocket, SocketFileError, setSocketAccess, toSocketFault } from './socket-file.ts';

async function pathFor(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-socket-'));
  t.after(() => rm(directory, { recursive: true }));
  return join(directory, 'p.sock');
}

async function listenAt(t: TestContext, path: string) {
  const server = createServer((socket) => socket.on('error', () => undefined).destroy());
  server.listen(path);
  await once(server, 'listening');
  t.after(async () => void server.close());
  return server;
}

/** What a process leaves behind that was killed. */
async function leaveBehind(t: TestContext, path: string): Promise<void> {
  const server = await listenAt(t, `${path}.first`);
  await link(`${path}.first`, path);
  await new Promise((resolve) => server.close(resolve));
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const fault = (expected: RegExp) => (error: unknown) =>
  error instanceof SocketFileError && expected.test(error.message);

const socket = { mode: 0o600, owner: undefined, group: undefined, isTrusted: false };

test('removes a stale Unix socket file, and reports nothing if there is none', async (t) => {
  const path = await pathFor(t);
  await removeStaleSocket(path);
  await leaveBehind(t, path);
  assert.equal(await exists(path), true);
  await removeStaleSocket(path);
  assert.equal(await exists(path), false);
});

test('keeps a Unix socket file that is in use, and the fault names it', async (t) => {
  const path = await pathFor(t);
  await listenAt(t, path);
  await assert.rejects(removeStaleSocket(path), fault(new RegExp(`^somebody listens at ${path}; stop what listens`)));
  assert.equal(await exists(path), true);
});

test('keeps a file that is no Unix socket, including a symbolic link to one', async (t) => {
  const path = await pathFor(t);
  await writeFile(path, 'precious');
  await assert.rejects(removeStaleSocket(path), fault(/is no socket; remove it/));
  assert.equal((await stat(path)).size, 8);

  await leaveBehind(t, `${path}.other`);
  await symlink(`${path}.other`, `${path}.link`);
  await assert.rejects(removeStaleSocket(`${path}.link`), fault(/is no socket/));
  assert.equal(await exists(`${path}.other`), true);
});

test('mode, owner and group of a socket file are set by number or name, and invalid ones are a fault', async (t) => {
  const path = await pathFor(t);
  await writeFile(path, '');
  const { uid, gid } = await stat(path);
  await setSocketAccess({ ...socket, path, mode: 0o620, owner: uid, group: String(gid) });
  assert.equal((await stat(path)).mode & 0o777, 0o620);
  await assert.rejects(
    setSocketAccess({ ...socket, path, owner: 'nobody-is-called-so' }),
    fault(/no user in \/etc\/passwd is called nobody-is-called-so; write its number/),
  );
  if (process.getuid?.() === 0) {
    await setSocketAccess({ ...socket, path, owner: 'root', group: 7 });
    assert.deepEqual([(await stat(path)).uid, (await stat(path)).gid], [0, 7]);
  } else {
    await assert.rejects(setSocketAccess({ ...socket, path, owner: 0 }), fault(/cannot be given.*EPERM/));
  }
});

test('a failure to create the socket file gives its path and reason, and other errors pass unchanged', () => {
  const failed = (code: string) => toSocketFault('/run/p.sock', Object.assign(new Error('listen'), { code }));
  assert.ok(fault(/^somebody listens at \/run\/p\.sock/)(failed('EADDRINUSE')));
  assert.ok(fault(/^no socket can be made at \/run\/p\.sock \(ENOENT\)/)(failed('ENOENT')));
  const own = new Error('own');
  assert.equal(toSocketFault('/run/p.sock', own), own);
});
