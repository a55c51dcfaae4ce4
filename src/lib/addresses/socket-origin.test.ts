import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSocketPath, socketOf, toSocketOrigin, toSocketUrl, toUrlOrigin } from './socket-origin.ts';

test('the socket path of a unix: URL ends at the last colon followed by a slash', () => {
  const rows = [
    ['unix:/run/x.sock:/v1', '/run/x.sock', '/v1'],
    ['unix:/run/a:b/x.sock:/v1/', '/run/a:b/x.sock', '/v1/'],
    ['unix:/run/a:/x.sock:/v1', '/run/a:/x.sock', '/v1'],
    ['unix:/run/x.sock', '/run/x.sock', ''],
    ['unix:/run/x.sock:', '/run/x.sock', ''],
    ['unix:/run/x:1.sock', '/run/x:1.sock', ''],
  ] as const;
  for (const [written, socket, path] of rows) assert.deepEqual(toSocketUrl(written), { socket, path }, written);
});

test('the origin made from a socket path converts back to that path', () => {
  for (const socket of ['/run/x.sock', '/a:/b', '/run/x y']) assert.equal(socketOf(toSocketOrigin(socket)), socket);
  assert.equal(socketOf('https://api.test'), undefined);
  assert.deepEqual(['unix:/x:', 'https://api.test'].map(toUrlOrigin), ['http://localhost', 'https://api.test']);
});

test("a socket path is absolute, names a file, and fits the system's limit", () => {
  const good = ['/x', '/run/postern.sock', `/${'x'.repeat(102)}`];
  const bad = ['', '/', 'x.sock', './x', '/run/', '/a\0b', `/${'x'.repeat(103)}`, `/${'ä'.repeat(52)}`];
  assert.deepEqual(
    good.map(isSocketPath),
    good.map(() => true),
  );
  assert.deepEqual(
    bad.map(isSocketPath),
    bad.map(() => false),
  );
});
