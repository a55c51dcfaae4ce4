/**
 * A proxy on `node:net` sockets that shows what JavaScript can reach: own parsing, keep-alive on both sides, one upstream connection per client
 * connection. It has no limits, timeouts or checks: a baseline, not a server.
 */

import { connect, createServer, type Socket } from 'node:net';
import { listenAndReport } from './listening.ts';

const [port = '', prefix = ''] = process.argv.slice(2);
const dropped = new Set(['connection', 'keep-alive', 'host', 'authorization']);

/** The fields of a message's head needed to pass it on. */
interface Head {
  readonly firstLine: string;
  /** All but what ends at this hop, each with its line end. */
  readonly fields: string;
  /** Undefined: chunked. */
  readonly bodyLength: number | undefined;
  readonly bodyAt: number;
}

function readHead(bytes: Buffer): Head | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [firstLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  let fields = '';
  let bodyLength: number | undefined = 0;
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    if (name === 'content-length') bodyLength = Number(line.slice(colon + 1));
    if (name === 'transfer-encoding') bodyLength = undefined;
    if (!dropped.has(name)) fields += `${line}\r\n`;
  }
  return { firstLine, fields, bodyLength, bodyAt: end + 4 };
}

/** Finds the ends of chunks, however they are split, without reading their data. */
class Chunks {
  #size = 0;
  #left = 0;
  #state: 'size' | 'line' | 'data' = 'size';

  /** True once the last chunk is through. */
  skip(bytes: Buffer): boolean {
    for (let at = 0; at < bytes.length; ) {
      if (this.#state === 'data') {
        const step = Math.min(this.#left, bytes.length - at);
        at += step;
        this.#left -= step;
        if (this.#left === 0) this.#state = 'size';
        continue;
      }
      const byte = bytes[at++] ?? 0;
      if (byte === 10) {
        if (this.#size === -1) return true;
        // The data and its line end; behind the last chunk, the empty line alone.
        this.#left = this.#size + 2;
        this.#state = this.#size === 0 ? 'line' : 'data';
        this.#size = this.#size === 0 ? -1 : 0;
      } else if (byte !== 13 && this.#state === 'size') {
        this.#size = this.#size * 16 + (byte < 58 ? byte - 48 : (byte | 32) - 87);
      }
    }
    return false;
  }
}

/** Passes one side's messages on to the other, one at a time. */
function relay(from: Socket, to: Socket, writeHead: (head: Head) => string): void {
  let held: Buffer | undefined;
  let left = 0;
  let chunks: Chunks | undefined;
  from.on('data', (bytes: Buffer) => {
    if (left === 0 && chunks === undefined) {
      const whole = held === undefined ? bytes : Buffer.concat([held, bytes]);
      const head = readHead(whole);
      held = head === undefined ? whole : undefined;
      if (head === undefined) return;
      const body = whole.subarray(head.bodyAt);
      left = head.bodyLength ?? 0;
      chunks = head.bodyLength === undefined ? new Chunks() : undefined;
      const text = writeHead(head);
      if (body.length < 4_096) {
        pass(text + body.toString('latin1'), body);
        return;
      }
      to.cork();
      to.write(text, 'latin1');
      pass(body, body);
      to.uncork();
      return;
    }
    pass(bytes, bytes);
  });
  to.on('drain', () => from.resume());

  function pass(what: string | Buffer, body: Buffer): void {
    if (!to.write(what, 'latin1')) from.pause();
    if (chunks === undefined) left -= body.length;
    else if (chunks.skip(body)) chunks = undefined;
  }
}

const server = createServer({ noDelay: true }, (client) => {
  const upstream = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
  relay(client, upstream, ({ firstLine, fields }) => {
    const [method, path, version] = firstLine.split(' ');
    return `${method} ${prefix}${path} ${version}\r\nhost: 127.0.0.1:${port}\r\n${fields}\r\n`;
  });
  relay(upstream, client, ({ firstLine, fields }) => `${firstLine}\r\n${fields}\r\n`);
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
});

listenAndReport(server);
