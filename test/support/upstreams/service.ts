/** A fake HTTP service with complete requests and responses. */

import { createServer } from 'node:http';
import type { TestContext } from 'node:test';

export interface ServiceCall {
  readonly method: string;
  readonly path: string;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface ServiceAnswer {
  /** Default: 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text as it is; anything else as JSON. */
  readonly body?: unknown;
}

export interface Service {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  readonly calls: readonly ServiceCall[];
}

export async function startService(t: TestContext, answer: (call: ServiceCall) => ServiceAnswer): Promise<Service> {
  const calls: ServiceCall[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const call: ServiceCall = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
        text: Buffer.concat(chunks).toString(),
      };
      calls.push(call);
      const { status = 200, headers = {}, body = '' } = answer(call);
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the service has no port');
  return { url: `http://127.0.0.1:${address.port}`, calls };
}
