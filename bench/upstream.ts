/** The upstream of a benchmark: nginx if installed; raw sockets for event streams, uploads and everywhere else. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Child, type Children, listeningPort } from './children.ts';
import { nginx, startNginxUpstream } from './nginx.ts';
import type { Payload } from './payloads.ts';

export interface BenchUpstream {
  readonly kind: 'nginx' | 'raw sockets';
  readonly port: number;
}

export interface BenchUpstreams {
  /** The upstream that answers the payload; the path is `/{payload name}` and then the payload's own. */
  of(payload: Payload): BenchUpstream;
  stop(): Promise<void>;
}

const rawUpstream = fileURLToPath(new URL('raw-upstream.ts', import.meta.url));

export async function startUpstreams(
  children: Children,
  runtime: string,
  directory: string,
  payloads: readonly Payload[],
): Promise<BenchUpstreams> {
  mkdirSync(directory, { recursive: true });
  const answers = payloads.map((payload): [string, Buffer] => [payload.name, toHttpAnswer(payload)]);
  const { child, port } = await startRawUpstream(children, runtime, directory, answers);
  const started: Child[] = [child];
  const raw: BenchUpstream = { kind: 'raw sockets', port };

  let native = raw;
  let secure: BenchUpstream | undefined;
  if (nginx !== undefined) {
    const plain = payloads.filter(isForNginx);
    const server = await startNginxUpstream(children, join(directory, 'nginx'), plain, false);
    started.push(server.child);
    native = { kind: 'nginx', port: server.port };
    const overTls = plain.filter((payload) => payload.overTls === true);
    if (overTls.length > 0) {
      const tlsServer = await startNginxUpstream(children, join(directory, 'nginx-tls'), overTls, true);
      started.push(tlsServer.child);
      secure = { kind: 'nginx', port: tlsServer.port };
    }
  }
  return {
    of(payload) {
      if (payload.overTls === true && secure === undefined) throw new Error(`${payload.name} needs nginx`);
      if (payload.overTls === true && secure !== undefined) return secure;
      return isForNginx(payload) ? native : raw;
    },
    async stop() {
      await Promise.all(started.map((one) => one.stop()));
    },
  };
}

/** It answers an upload before it has read it. */
const isForNginx = ({ eventEnds, request }: Payload): boolean => eventEnds === undefined && request.length < 1_000_000;

/** Answers each path whose first segment is a name with the bytes of that name. */
export async function startRawUpstream(
  children: Children,
  runtime: string,
  directory: string,
  answers: readonly (readonly [name: string, answer: Buffer])[],
): Promise<{ readonly child: Child; readonly port: number }> {
  const files = answers.map(([name, answer]): [string, string] => {
    const file = join(directory, `${name}.http`);
    writeFileSync(file, answer);
    return [name, file];
  });
  const manifest = join(directory, 'manifest.json');
  writeFileSync(manifest, JSON.stringify(Object.fromEntries(files)));
  const child = children.start({
    command: runtime,
    args: ['--max-semi-space-size=32', rawUpstream, manifest],
    outputFile: join(directory, 'raw-upstream.log'),
    core: 'load',
  });
  return { child, port: await listeningPort(child) };
}

/** A whole message: head, framing and body. */
export function toHttpAnswer({
  contentType,
  answer,
  eventEnds,
}: Pick<Payload, 'contentType' | 'answer' | 'eventEnds'>): Buffer {
  const head = (framing: string): Buffer =>
    Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: ${contentType}\r\n${framing}\r\nConnection: keep-alive\r\n\r\n`);
  if (eventEnds === undefined) return Buffer.concat([head(`Content-Length: ${answer.length}`), answer]);
  const chunks = eventEnds.map((end, index) => {
    const event = answer.subarray(eventEnds[index - 1] ?? 0, end);
    return Buffer.concat([Buffer.from(`${event.length.toString(16)}\r\n`), event, Buffer.from('\r\n')]);
  });
  return Buffer.concat([head('Transfer-Encoding: chunked'), ...chunks, Buffer.from('0\r\n\r\n')]);
}
