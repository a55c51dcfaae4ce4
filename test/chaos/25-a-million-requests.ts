/** A long steady load of which a tenth leaves early: memory stays level, and every handle and socket is given back. */

import { readdir, readlink } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type GatewayProcess, launcher, startGatewayProcess } from '../support/gateway-process.ts';
import { toRequestBytes } from '../support/raw-client.ts';
import { definePromise, type Figure, type Scale } from './promise.ts';
import { none } from './support/findings.ts';
import { startLoad } from './support/load.ts';

interface Size {
  readonly requests: number;
  readonly timeLimitMs: number;
  /** What the collector's own ups and downs come to. A leak of one small object a request is more than that in the long form. */
  readonly growthLimitMiB: number;
}

const sizes: Readonly<Record<Scale, Size>> = {
  long: { requests: 1_000_000, timeLimitMs: 480_000, growthLimitMiB: 16 },
  // Too short for the heap to have found its size: what is asserted is that nothing runs away.
  short: { requests: 5_000, timeLimitMs: 10_000, growthLimitMiB: 128 },
};

const connections = 48;
/** Some are answered before their client leaves, so that a little more than a tenth have to be about to. */
const abandon = { share: 0.12, withinMs: 12 };
const sampleEveryMs = 250;
const quietLimitMs = 30_000;
const mebibyte = 1024 * 1024;

/** The line of each request is taken out of the log before it comes here: there are too many of them to keep. */
const quietly: readonly [string, ...string[]] = [
  '/bin/sh',
  '-c',
  `mkfifo log && { grep --line-buffered -v '"msg":"request"' < log & exec "$0" "$@" > log; }`,
  launcher,
];

interface Sample {
  readonly answered: number;
  readonly rssBytes: number;
}

export default definePromise({
  no: 25,
  title: '1,000,000 requests, 10 % of them aborted',
  async run({ t, scale, seed, progress }) {
    const { requests, timeLimitMs, growthLimitMiB } = sizes[scale];
    const upstream = await startUpstream(t);
    const gateway = await startGatewayProcess({ config: toConfig(portOf(upstream)), command: quietly });
    t.after(() => gateway.stop());
    const atStart = await countDescriptors(gateway);

    const load = startLoad(t, {
      port: gateway.port,
      requests: [toRequestBytes({ path: '/v1/embeddings', headers: [['x-api-key', gateway.key]], body: question })],
      connections,
      maxRequests: requests,
      maxMs: timeLimitMs,
      abandon: { ...abandon, seed },
    });
    const samples: Sample[] = [];
    let report: Awaited<typeof load.ended> | undefined;
    while (report === undefined) {
      samples.push({ answered: load.answered, rssBytes: await gateway.rssBytes() });
      progress(`${load.answered} of ${requests} requests answered, RSS ${toMiB(samples.at(-1)?.rssBytes ?? 0)} MiB`);
      report = await Promise.race([load.ended, wait(sampleEveryMs, undefined)]);
    }
    // In the long form the gateway's own patience with idle connections is waited for.
    if (scale === 'short') upstream.closeIdleConnections();
    const left = await waitUntilQuiet(gateway, atStart);

    const { sent, answered, abandoned, broken, refused, statuses, failures, durationMs } = report;
    const failed = broken + refused + answered - (statuses['200'] ?? 0);
    const reasons = Array.from({ length: failed }, (_, index) => failures[index] ?? 'one more');
    const growth = fitSecondHalf(samples);
    const growthMiB = (growth.bytesPerAnswer * growth.answers) / mebibyte;
    return [
      {
        name: 'requests',
        bar: `${requests}, or what ${timeLimitMs / 1_000} s allow`,
        measured: `${sent} in ${Math.round(durationMs / 1_000)} s`,
        met: sent >= requests,
      },
      {
        name: 'of these aborted by their client',
        bar: '10 %',
        measured: `${((abandoned / sent) * 100).toFixed(1)} %`,
        met: abandoned >= sent * 0.08,
      },
      none('other requests without a whole answer of status 200', reasons),
      {
        name: 'growth of RSS over the second half, by least squares',
        bar: `at most ${growthLimitMiB} MiB`,
        measured: `${growthMiB.toFixed(1)} MiB, ${growth.bytesPerAnswer.toFixed(1)} bytes a request; RSS ${toMiB(samples.at(-1)?.rssBytes ?? 0)} MiB`,
        met: growthMiB <= growthLimitMiB,
        broken: growthMiB > growthLimitMiB,
      },
      backTo('open descriptors when all is over', left.all, atStart.all),
      backTo('open sockets when all is over', left.sockets, atStart.sockets),
    ] satisfies Figure[];
  },
});

const question = { model: 'm', input: 'one short text' };

const answerHead = '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[';
const answerRest = `${Array.from({ length: 64 }, (_, n) => (n / 64).toFixed(6)).join(',')}]}],"model":"m","usage":{"prompt_tokens":3,"total_tokens":3}}`;

/** Answers at once, late, or in two parts with a pause, in turn: a client that leaves does so at every stage. It keeps no journal. */
async function startUpstream(t: TestContext): Promise<Server> {
  let turn = 0;
  const finish = (response: ServerResponse): void => {
    response.end(answerRest);
  };
  const begin = (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(answerHead);
  };
  const server = createServer((request, response) => {
    request.resume();
    request.once('end', () => {
      turn += 1;
      if (turn % 4 === 0) {
        setTimeout(() => {
          begin(response);
          finish(response);
        }, 5);
        return;
      }
      begin(response);
      if (turn % 4 === 1) setTimeout(finish, 5, response);
      else finish(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the upstream has no port');
  return address.port;
}

function toConfig(upstreamPort: number): Readonly<Record<string, unknown>> {
  return {
    upstreams: [
      { id: 'up', family: 'openai', base_url: `http://127.0.0.1:${upstreamPort}`, api_key: 'sk-upstream-key' },
    ],
    models: [{ id: 'm', operations: ['embeddings'], targets: [{ upstream: 'up' }] }],
  };
}

interface Descriptors {
  readonly all: number;
  readonly sockets: number;
}

async function countDescriptors({ pid }: GatewayProcess): Promise<Descriptors> {
  const directory = `/proc/${pid}/fd`;
  const targets = await Promise.all(
    // One that is gone again when it is asked for is none.
    (await readdir(directory)).map((name) => readlink(`${directory}/${name}`).catch(() => undefined)),
  );
  const open = targets.filter((target) => target !== undefined);
  return { all: open.length, sockets: open.filter((target) => target.startsWith('socket:')).length };
}

/** Idle connections to the upstream are closed after some seconds. */
async function waitUntilQuiet(gateway: GatewayProcess, atStart: Descriptors): Promise<Descriptors> {
  const endMs = performance.now() + quietLimitMs;
  for (;;) {
    const now = await countDescriptors(gateway);
    if ((now.all <= atStart.all && now.sockets <= atStart.sockets) || performance.now() > endMs) return now;
    await wait(sampleEveryMs);
  }
}

/** The slope of the line through the samples of the second half, and how many answers that half had. */
function fitSecondHalf(samples: readonly Sample[]): { readonly bytesPerAnswer: number; readonly answers: number } {
  const last = samples.at(-1)?.answered ?? 0;
  const half = samples.filter(({ answered }) => answered >= last / 2);
  const meanOf = (pick: (sample: Sample) => number): number =>
    half.reduce((sum, sample) => sum + pick(sample), 0) / half.length;
  const meanAnswered = meanOf(({ answered }) => answered);
  const meanRss = meanOf(({ rssBytes }) => rssBytes);
  let covariance = 0;
  let variance = 0;
  for (const { answered, rssBytes } of half) {
    covariance += (answered - meanAnswered) * (rssBytes - meanRss);
    variance += (answered - meanAnswered) ** 2;
  }
  if (variance === 0) throw new Error(`${half.length} samples are too few for a line`);
  return { bytesPerAnswer: covariance / variance, answers: last - (half[0]?.answered ?? 0) };
}

function backTo(name: string, left: number, atStart: number): Figure {
  const met = left <= atStart;
  return { name, bar: `at most the ${atStart} of the start`, measured: String(left), met, broken: !met };
}

const toMiB = (bytes: number): number => Math.round(bytes / mebibyte);
