/** The last answer on a connection, whatever its client sends meanwhile: between processes, where the end of one that was not read to its end is a reset. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { send } from '../support/clients/raw-client.ts';
import { startGatewayProcess } from '../support/gateways/gateway-process.ts';

const junk = 'x'.repeat(8 * 1024 * 1024);
const post = 'POST /v1/embeddings HTTP/1.1\r\nHost: x\r\n';
const lastRequests: readonly (readonly [text: string, status: number])[] = [
  ['GET /v1/models HTTP/1.1\r\nHost: a b\r\n\r\n', 400],
  ['GET * HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  [`${post}Transfer-Encoding: gzip\r\n\r\n`, 400],
  [`${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 401],
  ['CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 200],
  ['GET /healthz HTTP/1.0\r\n\r\n', 200],
  ['GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n', 200],
];
const times = 10;

test('data sent after the last request of a connection does not lose its response', async (t) => {
  const gateway = await startGatewayProcess({ config: { upstreams: [{ id: 'local', family: 'local' }] } });
  t.after(() => gateway.stop());
  for (const [text, status] of lastRequests) {
    for (let time = 0; time < times; time += 1) {
      const answer = await send(gateway.port, text + junk);
      assert.equal(answer.status, status, text);
      assert.equal(answer.complete, true);
    }
  }
});

test('a connection closes after its last response, from either side', async (t) => {
  const gateway = await startGatewayProcess({ config: { upstreams: [{ id: 'local', family: 'local' }] } });
  t.after(() => gateway.stop());
  for (const [text, status] of lastRequests) {
    for (const halfClose of [true, false]) {
      const answer = await send(gateway.port, text, { until: 'close', halfClose });
      assert.equal(answer.status, status, text);
      assert.equal(answer.closed, 'fin');
    }
  }
});
