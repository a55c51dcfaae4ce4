/** Promise 17: clients that never finish a request head are disconnected in time, and others hardly notice. */

import { execFileSync } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { toRequestBytes } from '../support/clients/raw-client.ts';
import { startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { toDocument } from '../support/gateways/pair.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { atMost, definePromise, within } from './promise.ts';
import { startLoad } from './support/clients/load.ts';
import { createRandom } from './support/random.ts';

const scales = {
  long: { clients: 5_000, headersTimeoutMs: 10_000 },
  short: { clients: 500, headersTimeoutMs: 1_000 },
} as const;

const barMs = 2_000;
/** A connection still open after ten times the bar counts as never closed. */
const patienceMs = 10 * barMs;
/** Files of this process and of the gateway beside one a client. */
const spareFiles = 200;
const openedAtOnce = 50;
const goodPerSecond = 200;

/** What a client does instead of finishing its head. */
const manners = ['says nothing', 'stops in mid-head', 'sends a byte at a time', 'stops in its second request'] as const;

const head = Buffer.from(
  'POST /v1/embeddings HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nx-filler: 0123456789\r\n',
);
const firstRequest = toRequestBytes({ path: '/healthz' });

export default definePromise({
  no: 17,
  title: 'half-sent headers',
  async run({ t, scale, seed, progress }) {
    const { clients, headersTimeoutMs } = scales[scale];
    checkFileLimit(clients);
    const upstream = await startFakeUpstream();
    t.after(() => upstream.close());
    const gateway = await startGatewayProcess({
      config: { ...toDocument(upstream.url), server: { timeouts: { headers: `${headersTimeoutMs}ms` } } },
    });
    t.after(() => gateway.stop());

    const good = startLoad(t, {
      port: gateway.port,
      requests: [
        toRequestBytes({
          path: '/v1/embeddings',
          headers: [['Authorization', `Bearer ${gateway.key}`]],
          body: '{"model":"m","input":"x"}',
        }),
      ],
      connections: 20,
      ratePerSecond: goodPerSecond,
      maxMs: headersTimeoutMs + patienceMs + 30_000,
    });
    await wait(500); // the connections of the good ones are there, and the gateway is warm

    const random = createRandom(seed);
    const dripMs = headersTimeoutMs / 10;
    const attackers: HalfSender[] = [];
    for (let count = 0; count < clients; count += 1) {
      const manner = manners[Math.floor(random() * manners.length)] ?? manners[0];
      attackers.push(new HalfSender(gateway.port, manner, 1 + Math.floor(random() * (head.length - 1)), dripMs));
      if (count % openedAtOnce === openedAtOnce - 1) await wait(1);
    }
    t.after(() => {
      for (const attacker of attackers) attacker.destroy();
    });

    const deadlineMs = performance.now() + headersTimeoutMs + patienceMs;
    const open = (): HalfSender[] => attackers.filter((attacker) => !attacker.isClosed);
    while (open().length > 0 && performance.now() < deadlineMs) {
      progress(`${open().length} of ${clients} half-sent heads are open`);
      await wait(50);
    }
    const report = await good.stop();

    const slowestMs = Math.max(...attackers.map(({ heldMs }) => heldMs));
    const failed = report.sent - (report.statuses[200] ?? 0) + report.refused + report.unsent;
    return [
      atMost(`half-sent heads never let go, of ${clients}`, open().length, 0),
      atMost(
        'answered with anything but 408',
        attackers.filter(({ isAnsweredOtherwise }) => isAnsweredOtherwise).length,
        0,
      ),
      within(
        `slowest to be let go, after the header timeout of ${headersTimeoutMs / 1000} s`,
        slowestMs - headersTimeoutMs,
        barMs,
      ),
      atMost(`good requests that failed meanwhile, of ${report.sent}`, failed, 0),
      within('good requests meanwhile, p99', report.latency.p99Ms, 20),
      atMost('requests that reached the upstream beside the good ones', upstream.requests.length - report.sent, 0),
    ];
  },
});

/** Every client is a file here and another one in the gateway; Node lifts its own soft limit to the hard one. */
function checkFileLimit(clients: number): void {
  const limit = execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim();
  if (limit !== 'unlimited' && Number(limit) < clients + spareFiles) {
    throw new Error(
      `${clients} clients need ${clients + spareFiles} open files a process; this machine allows ${limit}`,
    );
  }
}

class HalfSender {
  isClosed = false;
  readonly #socket: Socket;
  readonly #pieces: Buffer[] = [];
  #begunMs = performance.now();
  #endedMs: number | undefined = undefined;
  #drip: NodeJS.Timeout | undefined = undefined;

  constructor(port: number, manner: (typeof manners)[number], cutAt: number, dripMs: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (bytes: Buffer) => this.#pieces.push(bytes));
    this.#socket.on('error', () => undefined); // 'close' follows
    this.#socket.once('connect', () => {
      this.#begunMs = performance.now();
      if (manner === 'stops in mid-head') this.#socket.write(head.subarray(0, cutAt));
      if (manner === 'sends a byte at a time') this.#startDripping(dripMs);
      if (manner === 'stops in its second request') this.#askFirst(cutAt);
    });
    this.#socket.once('close', () => {
      clearInterval(this.#drip);
      this.#endedMs = performance.now();
      this.isClosed = true;
    });
  }

  /** From its first chance to send something until it was closed. */
  get heldMs(): number {
    return (this.#endedMs ?? performance.now()) - this.#begunMs;
  }

  get isAnsweredOtherwise(): boolean {
    const text = Buffer.concat(this.#pieces).toString('latin1');
    return text !== '' && !/^HTTP\/1\.1 408 /.test(text);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #startDripping(everyMs: number): void {
    let at = 0;
    const drip = (): void => {
      if (this.#socket.writable && at < head.length) this.#socket.write(head.subarray(at, at + 1));
      at += 1;
    };
    drip();
    this.#drip = setInterval(drip, everyMs);
  }

  #askFirst(cutAt: number): void {
    this.#socket.write(firstRequest);
    this.#socket.once('data', () => {
      this.#pieces.length = 0;
      this.#begunMs = performance.now();
      this.#socket.write(head.subarray(0, cutAt));
    });
  }
}
