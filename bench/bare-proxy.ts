/** A minimal proxy as a baseline: node:http in, undici's dispatch out, bytes relayed with back-pressure, nothing else. */

import { createServer, type ServerResponse } from 'node:http';
import { type Dispatcher, Pool } from 'undici';
import { localhostCertificate } from '../test/support/upstreams/localhost-certificate.ts';
import { listenAndReport } from './listening.ts';

const [origin = '', prefix = ''] = process.argv.slice(2);

const pool = new Pool(origin, {
  connections: 32_768,
  pipelining: 1,
  allowH2: false,
  headersTimeout: 0,
  bodyTimeout: 0,
  connect: { ca: localhostCertificate },
});

const server = createServer(
  { headersTimeout: 10_000, requestTimeout: 65_000, connectionsCheckingInterval: 1_000, keepAliveTimeout: 75_000 },
  (request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const [only] = pieces;
      const body = only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces);
      const headers = ['content-type', request.headers['content-type'] ?? ''];
      pool.dispatch({ method: 'POST', path: prefix + request.url, headers, body }, relayTo(response));
    });
  },
);

function relayTo(response: ServerResponse): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller) {
      response.on('close', () => {
        if (!response.writableFinished) controller.abort(new Error('the client is gone'));
      });
    },
    onResponseStart(controller, status) {
      response.writeHead(status, toForwarded(controller.rawHeaders));
    },
    onResponseData(controller, chunk) {
      if (response.write(chunk)) return;
      controller.pause();
      response.once('drain', () => controller.resume());
    },
    onResponseEnd() {
      response.end();
    },
    onResponseError() {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    },
  };
}

const hopByHop = new Set(['connection', 'keep-alive', 'transfer-encoding']);

function toForwarded(raw: Dispatcher.DispatchController['rawHeaders']): string[] {
  if (!Array.isArray(raw)) return [];
  const forwarded: string[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = String(raw[index]);
    if (!hopByHop.has(name.toLowerCase())) forwarded.push(name, String(raw[index + 1]));
  }
  return forwarded;
}

listenAndReport(server);
