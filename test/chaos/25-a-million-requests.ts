/**
 * Promise 25: under a long steady load of which a tenth leaves early, memory stays level, and handles, sockets, threads and segments are
 * released.
 */

import { readdir, readlink } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { send, toRequestBytes } from '../support/clients/raw-client.ts';
import { type GatewayProcess, launcher, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { definePromise, type Figure, type Scale } from './promise.ts';
import { startLoad } from './support/clients/load.ts';
import { createCommandLine } from './support/command-line.ts';
import { none } from './support/readings/findings.ts';
import { readMetric } from './support/readings/metric.ts';

interface Size {
  readonly requests: number;
  readonly timeLimitMs: number;
  /** What the collector's own ups and downs come to. A leak of one small object a request is more than that in the long form. */
  readonly growthLimitMiB: number;
}

const sizes: Readonly<Record<Scale, Size>> = {
  long: { requests: 1_000_000, timeLimitMs: 480_000, growthLimitMiB: 16 },
  // Too short for the heap to reach its size: asserted is only that nothing grows without bound.
  short: { requests: 5_000, timeLimitMs: 10_000, growthLimitMiB: 128 },
};

const connections = 48;
/** Some are answered before their client leaves, so that a little more than a tenth have to be about to. */
const abandon = { share: 0.12, withinMs: 12 };
const sampleEveryMs = 250;
const quietLimitMs = 30_000;
/** So long nothing may have changed for the gateway to count as settled. */
const settledMs = 1_500;
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
    const request = toRequestBytes({ path: '/v1/embeddings', headers: [['x-api-key', clientKey]], body: question });
    // What opens with the first request, and stays open, is part of the start.
    const first = await send(gateway.port, request);
    if (first.status !== 200) throw new Error(`the first request is answered with ${first.status}: ${first.body}`);
    upstream.closeIdleConnections();
    const atStart = await settle(gateway);

    const load = startLoad(t, {
      port: gateway.port,
      requests: [request],
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
    const left = await waitUntilQuiet(gateway, atStart, () => scale === 'short' && upstream.closeIdleConnections());
    const books = await readBooks(gateway);

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
      backTo('open descriptors when all is over', left.descriptors, atStart.descriptors),
      backTo('open sockets when all is over', left.sockets, atStart.sockets),
      backTo('threads when all is over', left.threads, atStart.threads),
      backTo('journal segments when all is over', left.segments, atStart.segments),
      none(
        'answers without a row in the ledger',
        books.rows > answered ? [] : [`${books.rows} rows, ${answered} answers`],
      ),
      none(
        'differences between rows and sums, and money that does not fit them',
        books.differences,
        `${books.rows} rows`,
      ),
    ] satisfies Figure[];
  },
});

const clientKey = 'the-only-key-with-enough-characters';
const usageSchema = z.object({ total: z.object({ requests: z.number() }) });

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

/** Everything that counts is on, and nothing of it is ever reached. */
function toConfig(upstreamPort: number): Readonly<Record<string, unknown>> {
  const limits = {
    requests_per_minute: 1_000_000_000,
    tokens_per_day: 1_000_000_000_000,
    items_per_minute: 1_000_000_000,
    concurrency: 100_000,
  };
  const budgets = [
    { every: 'day', amount: 1_000_000 },
    { every: 'total', amount: 1_000_000 },
  ];
  return {
    projects: [{ id: 'team', limits, budgets }],
    upstreams: [
      { id: 'up', family: 'openai', base_url: `http://127.0.0.1:${upstreamPort}`, api_key: 'sk-upstream-key', budgets },
    ],
    models: [{ id: 'm', operations: ['embeddings'], limits, price: { input: 1 }, targets: [{ upstream: 'up' }] }],
    keys: [{ id: 'test', secret: clientKey, project: 'team', limits, budgets }],
  };
}

/** What a process holds. */
interface Holdings {
  readonly descriptors: number;
  readonly sockets: number;
  readonly threads: number;
  /** Of the journal, on the disk. */
  readonly segments: number;
}

async function countHoldings({ pid, directory }: GatewayProcess): Promise<Holdings> {
  const descriptors = `/proc/${pid}/fd`;
  const targets = await Promise.all(
    // One that is gone again when it is asked for is none.
    (await readdir(descriptors)).map((name) => readlink(`${descriptors}/${name}`).catch(() => undefined)),
  );
  const open = targets.filter((target) => target !== undefined);
  return {
    descriptors: open.length,
    sockets: open.filter((target) => target.startsWith('socket:')).length,
    threads: (await readdir(`/proc/${pid}/task`)).length,
    segments: (await readdir(`${directory}/journal/1000`)).filter((name) => name.endsWith('.journal')).length,
  };
}

/** What it holds once nothing comes and goes any more. */
async function settle(gateway: GatewayProcess): Promise<Holdings> {
  const endMs = performance.now() + quietLimitMs;
  let held = await countHoldings(gateway);
  for (let sinceMs = performance.now(); performance.now() - sinceMs < settledMs; ) {
    if (performance.now() > endMs) throw new Error(`the gateway does not settle: ${JSON.stringify(held)}`);
    await wait(sampleEveryMs);
    const now = await countHoldings(gateway);
    if (JSON.stringify(now) !== JSON.stringify(held)) sinceMs = performance.now();
    held = now;
  }
  return held;
}

/** Idle connections to the upstream are closed after some seconds, and the journal is brought into the store. */
async function waitUntilQuiet(gateway: GatewayProcess, atStart: Holdings, hasten: () => void): Promise<Holdings> {
  const endMs = performance.now() + quietLimitMs;
  for (;;) {
    hasten();
    const now = await countHoldings(gateway);
    const isBack =
      now.descriptors <= atStart.descriptors &&
      now.sockets <= atStart.sockets &&
      now.threads <= atStart.threads &&
      now.segments <= atStart.segments &&
      (await readMetric(gateway, 'postern_journal_bytes')) === 0;
    if (isBack || performance.now() > endMs) return now;
    await wait(sampleEveryMs);
  }
}

/** The state of the ledger when all rows are in the store: their number, and whether sums and metrics agree. */
async function readBooks(gateway: GatewayProcess): Promise<{ readonly rows: number; readonly differences: string[] }> {
  const postern = createCommandLine({ cwd: gateway.directory });
  const config = ['--config', gateway.configFile];
  const { output, code } = await postern('ledger', 'verify', ...config);
  const differences = code === 0 ? [] : [output];
  const { total } = usageSchema.parse(JSON.parse((await postern('usage', '--json', ...config)).output));
  const counted = await readMetric(gateway, 'postern_requests_total');
  if (counted !== total.requests)
    differences.push(`${counted} requests by the metrics, ${total.requests} by the ledger`);
  const open = await readMetric(gateway, 'postern_requests_in_flight');
  if (open !== 0) differences.push(`${open} requests are under way for ever`);
  return { rows: total.requests, differences };
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
