import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { toCurlLine } from './curl-line.ts';

/** The arguments as the shell reads them. */
function argumentsOf(command: string): string[] {
  const script = `curl() { for one in "$@"; do printf '%s\\0' "$one"; done; }; ${command}`;
  const output = execFileSync('/bin/sh', ['-c', script], { env: { POSTERN_KEY: 'pst_secret' }, encoding: 'utf8' });
  return output.split('\0').slice(0, -1);
}

const call = { path: '/v1/rerank', body: '{}' };

test("for a gateway that listens only on a Unix socket, curl uses the socket's path", () => {
  for (const [baseUrl, socket, url] of [
    ['unix:/run/postern.sock:', '/run/postern.sock', 'http://localhost/v1/rerank'],
    ['unix:/run/postern.sock:/ai', '/run/postern.sock', 'http://localhost/ai/v1/rerank'],
    ["unix:/run/it's a:/b.sock:/ai", "/run/it's a:/b.sock", 'http://localhost/ai/v1/rerank'],
  ] as const) {
    const [flag, ...given] = argumentsOf(toCurlLine({ ...call, baseUrl }));
    assert.deepEqual([flag, ...given.slice(0, 2)], ['--unix-socket', socket, url]);
    assert.ok(!given.some((one) => one.startsWith('unix:')));
  }
});

test('for a gateway on a port, curl uses its URL, with the known secret or a shell variable', () => {
  const baseUrl = 'http://127.0.0.1:4000';
  const headers = (secret: string) => ['-H', `Authorization: Bearer ${secret}`, '-H', 'Content-Type: application/json'];
  const url = 'http://127.0.0.1:4000/v1/rerank';
  assert.deepEqual(argumentsOf(toCurlLine({ ...call, baseUrl })), [url, ...headers('pst_secret'), '-d', '{}']);
  const given = argumentsOf(toCurlLine({ ...call, baseUrl, secret: "it's", isStream: true }));
  assert.deepEqual(given, ['-N', url, ...headers("it's"), '-d', '{}']);
});
