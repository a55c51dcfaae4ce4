/** Promise 18: clients that send a body byte by byte are disconnected at the request timeout, and cost little memory. */

import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { toRequestBytes } from '../support/clients/raw-client.ts';
import { startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { toDocument } from '../support/gateways/pair.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { atMost, definePromise, within } from './promise.ts';
import { runLoad } from './support/clients/load.ts';

const scales = {
  long: { clients: 1_000, requestTimeoutMs: 60_000, byteEveryMs: 1_000 },
  short: { clients: 200, requestTimeoutMs: 2_000, byteEveryMs: 100 },
} as const;

const barMs = 2_000;
const patienceMs = 10 * barMs;
const flatMegabytes = 20;
/** All of them together are less than a key may hold of the memory for bodies. */
const announcedBytes = 10_000;
/** The young generation has its size after so many requests. */
const warmUpRequests = 4_000;

const manners = ['with a length', 'in chunks', 'once it is asked for'] as const;

export default definePromise({
  no: 18,
  title: 'bodies at a byte a second',
  async run({ t, scale, progress }) {
    const { clients, requestTimeoutMs, byteEveryMs } = scales[scale];
    const upstream = await startFakeUpstream();
    t.after(() => upstream.close());
    const gateway = await startGatewayProcess({
      config: { ...toDocument(upstream.url), server: { timeouts: { request: `${requestTimeoutMs}ms` } } },
    });
    t.after(() => gateway.stop());
    const authorization = ['Authorization', `Bearer ${gateway.key}`] as const;
    await runLoad(t, {
      port: gateway.port,
      requests: [
        toRequestBytes({ path: '/v1/embeddings', headers: [authorization], body: '{"model":"m","input":"x"}' }),
      ],
      connections: 16,
      maxRequests: warmUpRequests,
      maxMs: 10_000,
    });
    const warmUpBytes = upstream.receivedBytes;

    const senders: SlowSender[] = [];
    for (let count = 0; count < clients; count += 1) {
      const manner = manners[count % manners.length] ?? manners[0];
      senders.push(new SlowSender(gateway.port, manner, gateway.key, byteEveryMs));
      if (count % 20 === 19) await wait(1);
    }
    t.after(() => {
      for (const sender of senders) sender.destroy();
    });

    const startedMs = performance.now();
    const open = (): number => senders.filter(({ isClosed }) => !isClosed).length;
    // What the connections themselves cost is there by now; from here on only bytes come.
    await wait(Math.min(5_000, requestTimeoutMs / 4));
    const settledRss = await gateway.rssBytes();
    let highestRss = settledRss;
    while (open() > 0 && performance.now() - startedMs < requestTimeoutMs + patienceMs) {
      if (open() === clients) highestRss = Math.max(highestRss, await gateway.rssBytes());
      progress(`${open()} of ${clients} slow bodies are open`);
      await wait(100);
    }

    const slowestMs = Math.max(...senders.map(({ heldMs }) => heldMs));
    const earliestMs = Math.min(...senders.map(({ heldMs }) => heldMs));
    return [
      atMost(`slow bodies never let go, of ${clients}`, open(), 0),
      atMost(
        'answered with anything but 408',
        senders.filter(({ isAnsweredOtherwise }) => isAnsweredOtherwise).length,
        0,
      ),
      atMost('let go before their time', earliestMs < requestTimeoutMs - 100 ? 1 : 0, 0),
      within(
        `slowest to be let go, after the request timeout of ${requestTimeoutMs / 1000} s`,
        slowestMs - requestTimeoutMs,
        barMs,
      ),
      atMost('memory while they send', Math.round((highestRss - settledRss) / 1e6), flatMegabytes, 'MB'),
      atMost('bytes that reached the upstream', upstream.receivedBytes - warmUpBytes, 0),
    ];
  },
});

class SlowSender {
  isClosed = false;
  readonly #socket: Socket;
  readonly #chunked: boolean;
  readonly #pieces: Buffer[] = [];
  #begunMs = performance.now();
  #endedMs: number | undefined = undefined;
  #drip: NodeJS.Timeout | undefined = undefined;

  constructor(port: number, manner: (typeof manners)[number], key: string, byteEveryMs: number) {
    this.#chunked = manner === 'in chunks';
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (bytes: Buffer) => this.#pieces.push(bytes));
    this.#socket.on('error', () => undefined); // 'close' follows
    this.#socket.once('connect', () => {
      this.#begunMs = performance.now();
      const lines = [
        'POST /v1/embeddings HTTP/1.1',
        'Host: 127.0.0.1',
        `Authorization: Bearer ${key}`,
        this.#chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${announcedBytes}`,
        ...(manner === 'once it is asked for' ? ['Expect: 100-continue'] : []),
      ];
      this.#socket.write(`${lines.join('\r\n')}\r\n\r\n`);
      this.#send('{');
      this.#drip = setInterval(() => this.#send(' '), byteEveryMs);
    });
    this.#socket.once('close', () => {
      clearInterval(this.#drip);
      this.#endedMs = performance.now();
      this.isClosed = true;
    });
  }

  get heldMs(): number {
    return (this.#endedMs ?? performance.now()) - this.#begunMs;
  }

  get isAnsweredOtherwise(): boolean {
    const text = Buffer.concat(this.#pieces).toString('latin1').replace('HTTP/1.1 100 Continue\r\n\r\n', '');
    return text !== '' && !text.startsWith('HTTP/1.1 408 ');
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #send(byte: string): void {
    if (this.#socket.writable) this.#socket.write(this.#chunked ? `1\r\n${byte}\r\n` : byte);
  }
}
