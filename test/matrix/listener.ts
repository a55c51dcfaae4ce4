/** A recording proxy between a client and the gateway. */

import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import * as z from 'zod';
import type { Rig, Scope } from '../support/gateways/rig.ts';
import { localhostCertificate, localhostKey } from '../support/upstreams/localhost-certificate.ts';

interface Heard {
  readonly path: string;
  readonly status: number;
  /** Server-sent events, or lines. */
  readonly isStream: boolean;
  /** The bytes are the gateway's, and not the service's own. */
  readonly isTranslated: boolean;
  /** The error in the envelope; undefined if there is none. */
  readonly error: z.output<typeof envelope>['error'] | undefined;
}

export interface Listener {
  readonly url: string;
  readonly secure: { readonly url: string; readonly certificate: string };
  /** In the order in which they began. */
  readonly heard: readonly Heard[];
}

const said = z.object({
  message: z.string(),
  code: z.union([z.string(), z.number()]).nullish(),
  param: z.string().nullish(),
});

/** Ours; and as clients of other APIs have it. */
const envelope = z.union([
  z.object({ error: said }),
  z.object({ error: z.string() }).transform(({ error: message }) => ({ error: said.parse({ message }) })),
  z.object({ message: z.string() }).transform((error) => ({ error: said.parse(error) })),
]);

export async function listenBefore(scope: Scope, { port }: Rig): Promise<Listener> {
  const heard: Heard[] = [];
  const onAsked = (asked: IncomingMessage, answer: ServerResponse): void => forward(port, asked, answer, heard);
  const certified = { cert: localhostCertificate, key: localhostKey };
  const plain = await listen(scope, createServer(onAsked));
  const secure = await listen(scope, createSecureServer(certified, onAsked));
  return {
    url: `http://127.0.0.1:${plain}`,
    secure: { url: `https://127.0.0.1:${secure}`, certificate: localhostCertificate },
    heard,
  };
}

async function listen(scope: Scope, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  scope.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the listener has no port');
  return address.port;
}

function forward(port: number, asked: IncomingMessage, answer: ServerResponse, heard: Heard[]): void {
  const { method, url: path = '', headers } = asked;
  const call = request({ host: '127.0.0.1', port, method, path, headers }, (given) => {
    const { statusCode: status = 0, rawHeaders } = given;
    const chunks: Buffer[] = [];
    given.on('data', (chunk: Buffer) => chunks.push(chunk));
    // Read on demand: by then the client has all of it.
    heard.push({
      path,
      status,
      isStream: /^(text\/event-stream|application\/x-ndjson)\b/.test(given.headers['content-type'] ?? ''),
      isTranslated: given.headers['x-postern-translated'] !== undefined,
      get error() {
        return errorIn(Buffer.concat(chunks).toString());
      },
    });
    answer.writeHead(status, rawHeaders);
    given.pipe(answer);
  });
  // A client whose connection breaks fails, and reports it.
  call.on('error', () => answer.destroy());
  asked.pipe(call);
}

function errorIn(text: string): Heard['error'] {
  try {
    return envelope.safeParse(JSON.parse(text)).data?.error;
  } catch {
    return undefined;
  }
}
