/** Promise 35: bodies that decompress to a thousand times their size do not fill memory, and do not delay other requests. */

import { createServer } from 'node:http';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { toRequestBytes } from '../support/clients/raw-client.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { toDocument } from '../support/gateways/pair.ts';
import { atMost, definePromise, type Figure, type Scale, within } from './promise.ts';
import { startLoad } from './support/clients/load.ts';
import { none } from './support/readings/findings.ts';
import { readMetric } from './support/readings/metric.ts';

const MiB = 1024 ** 2;
/** As many at a time as in the tale of the stranger who found it, from each of two keys. */
const bombs = 24;
const bombBytes = 31 * MiB;
/** What a process that may use 2 GiB has by default. */
const memoryMebibytes = 256;
const beyondMebibytes = 200;
const givenBackWithinMs = 30_000;
const sampleMs = 20;
const bombTimeoutMs = 60_000;

const scales: Readonly<Record<Scale, { readonly quietMs: number; readonly attackMs: number; readonly rate: number }>> =
  {
    long: { quietMs: 5_000, attackMs: 30_000, rate: 50 },
    short: { quietMs: 2_000, attackMs: 6_000, rate: 50 },
  };

const secrets = {
  honest: 'honest-key-with-enough-characters',
  free: 'free-key-with-enough-characters',
  limited: 'limited-key-with-enough-characters',
};

export default definePromise({
  no: 35,
  title: `gzip bombs: ${bombs} bodies at a time that decompress from 31 KB to 31 MiB, from a key at its limit and from another`,
  async run({ t, scale, progress }) {
    const { quietMs, attackMs, rate } = scales[scale];
    const gateway = await startGatewayProcess({
      config: {
        ...toDocument(await startSink(t)),
        // How late the loop is depends on what else the machine does.
        server: { body_memory: `${memoryMebibytes}MiB` },
        keys: [
          { id: 'honest', secret: secrets.honest },
          { id: 'free', secret: secrets.free },
          { id: 'limited', secret: secrets.limited, limits: { concurrency: 1, requests_per_minute: 10 } },
        ],
      },
    });
    t.after(() => gateway.stop());
    const small = [toRequest(secrets.honest, Buffer.from('{"model":"m","input":"small and honest"}'))];
    const load = (ms: number) =>
      startLoad(t, { port: gateway.port, requests: small, connections: 8, ratePerSecond: rate, maxMs: ms });

    progress('warming up');
    await load(quietMs).ended;
    const quiet = await load(quietMs).ended;
    const idleBytes = await gateway.rssBytes();

    const packed = gzipSync(Buffer.from(JSON.stringify({ model: 'm', input: 'a'.repeat(bombBytes) })));
    const watch = watchMemory(gateway);
    const endMs = performance.now() + attackMs;
    const outcomes = new Map<string, number>();
    const honest = load(attackMs);
    const attackers = [secrets.free, secrets.limited].flatMap((key) =>
      Array.from({ length: bombs }, () => attack(gateway, toRequest(key, packed, ['gzip']), endMs, outcomes)),
    );
    for (; performance.now() < endMs; await wait(500)) {
      progress(`${inWords(outcomes)}; resident ${watch.peakMebibytes()} MiB at most`);
    }
    await Promise.all(attackers);
    const meanwhile = await honest.ended;
    const peakMebibytes = watch.peakMebibytes();
    await watch.stop();

    progress('waiting for the memory to come back');
    const startedMs = performance.now();
    let afterBytes = await gateway.rssBytes();
    while (afterBytes > idleBytes + memoryMebibytes * MiB && performance.now() < startedMs + givenBackWithinMs) {
      await wait(250);
      afterBytes = await gateway.rssBytes();
    }
    const backMs = performance.now() - startedMs;
    const held = await readMetric(gateway, 'postern_body_memory_bytes');
    const waiting = await readMetric(gateway, 'postern_body_memory_waiting');

    const strange = [...outcomes].filter(([status]) => !['200', '429', '503'].includes(status));
    return [
      withScene(
        atMost(
          `resident set, beyond the ${memoryMebibytes} MiB for bodies`,
          peakMebibytes - memoryMebibytes,
          beyondMebibytes,
          'MiB',
        ),
        `${toMebibytes(idleBytes)} MiB before; answers to the long ones: ${inWords(outcomes)}`,
      ),
      within('small requests of another key: p99', meanwhile.latency.p99Ms, Math.ceil(2 * quiet.latency.p99Ms)),
      atMost(
        'small requests of another key that failed',
        meanwhile.answered - (meanwhile.statuses['200'] ?? 0) + meanwhile.broken,
        0,
      ),
      none(
        'long bodies answered with anything but 200, 429 and 503',
        strange.map(([status, count]) => `${count} x ${status}`),
      ),
      within('until the resident set is what it was, and 64 MiB', backMs, givenBackWithinMs),
      atMost(
        'memory given back: resident set over what it was',
        toMebibytes(afterBytes - idleBytes),
        memoryMebibytes,
        'MiB',
      ),
      atMost('bytes that bodies still hold when all is over, and who still waits', held + waiting, 0),
    ];
  },
});

function withScene(figure: Figure, scene: string): Figure {
  return { ...figure, measured: `${figure.measured} (${scene})` };
}

function toRequest(key: string, body: Buffer, codings: readonly string[] = []): Buffer {
  const headers = [
    ['Authorization', `Bearer ${key}`] as const,
    ...codings.map((coding) => ['Content-Encoding', coding] as const),
  ];
  return toRequestBytes({ path: '/v1/embeddings', headers, body });
}

/** Sends the same again and again, and counts what came. */
async function attack(
  gateway: GatewayProcess,
  request: Buffer,
  endMs: number,
  outcomes: Map<string, number>,
): Promise<void> {
  while (performance.now() < endMs) {
    const connection = await connect(gateway.port, { timeoutMs: bombTimeoutMs });
    await connection.write(request);
    const { status } = await connection.nextResponse();
    connection.destroy();
    outcomes.set(String(status), (outcomes.get(String(status)) ?? 0) + 1);
    if (status !== 200) await wait(50);
  }
}

const inWords = (outcomes: ReadonlyMap<string, number>): string =>
  [...outcomes].map(([status, count]) => `${count} x ${status}`).join(', ');

/** An upstream that reads all and keeps nothing. */
async function startSink(t: TestContext): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end('{"object":"list","data":[{}]}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('no port');
  return `http://127.0.0.1:${address.port}`;
}

interface MemoryWatch {
  peakMebibytes(): number;
  stop(): Promise<void>;
}

function watchMemory(gateway: GatewayProcess): MemoryWatch {
  let peakBytes = 0;
  let isStopped = false;
  const watching = (async () => {
    for (; !isStopped; await wait(sampleMs)) peakBytes = Math.max(peakBytes, await gateway.rssBytes());
  })();
  return {
    peakMebibytes: () => toMebibytes(peakBytes),
    async stop() {
      isStopped = true;
      await watching;
    },
  };
}

const toMebibytes = (bytes: number): number => Math.round(bytes / MiB);
