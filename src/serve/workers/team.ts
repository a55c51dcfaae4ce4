/** Forks the worker processes, passes messages, replaces dead workers, and waits for the last to end. */

import cluster, { type Worker } from 'node:cluster';
import { performance } from 'node:perf_hooks';
import type { Log } from '../../core/log.ts';
import type { ExitCode } from '../../core/user-fault.ts';
import type { Listening } from '../../http/listener.ts';
import { orAfter } from '../../lib/deadline.ts';
import type { LimitServer } from '../../limits/limit-server.ts';
import type { MetricName } from '../../telemetry/metrics/definitions.ts';
import { addReadings, onlyCounts, type Reading } from '../../telemetry/metrics/reading.ts';
import { type FromWorker, type ToWorker, toMessage } from './worker-messages.ts';

export type Team = ReturnType<typeof createTeam>;

/** A worker that lived this long did not die because of its start. */
const steadyMs = 10_000;
const firstDelayMs = 100;
const longestDelayMs = 10_000;
const failedStartsAllowed = 5;
/** How long to wait for a worker's metrics; the last report of a busier worker is used instead. */
const readTimeoutMs = 1_000;
/** The exit code of a worker that reported a fault of the user, such as a wrong setting, and printed it. */
const faultCode = 1;

/** A position among the workers; a new process takes the position of a dead one. */
interface Post {
  readonly number: number;
  worker: Worker | undefined;
  readyAtMs: number | undefined;
  /** Deaths in a row of processes that did not live for long. */
  deaths: number;
  latest: Reading;
  /** The last reading of only some metrics, summed up. */
  latestPart: Reading;
  /** False while it serves, until it reports that its work is done. */
  complete: boolean;
}

interface Asked {
  readonly waiting: Set<Post>;
  answered(): void;
}

export interface TeamDeps {
  readonly count: number;
  readonly log: Log;
  readonly limitServer?: LimitServer;
}

export function createTeam({ count, log, limitServer }: TeamDeps) {
  const posts = Array.from({ length: count }, (_, at): Post => emptyPost(at + 1));
  const started = Promise.withResolvers<Listening | ExitCode>();
  const broken = Promise.withResolvers<ExitCode>();
  const gone = Promise.withResolvers<void>();
  const asked = new Map<number, Asked>();
  const delayed = new Set<NodeJS.Timeout>();
  let retired: Reading = {};
  let retiredPart: Reading = {};
  let listening: Listening | undefined;
  let isEnding = false;
  let failedStarts = 0;
  let restarts = 0;
  let turn = 0;

  // Workers accept connections themselves: one handed to a worker that is killed would stay open for good.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  // Messages have figures that may be NaN, which JSON cannot hold.
  cluster.setupPrimary({ serialization: 'advanced', execArgv: [...process.execArgv, '--v8-pool-size=1'] });

  function fork(post: Post): void {
    const worker = cluster.fork({ POSTERN_WORKER: String(post.number) });
    post.worker = worker;
    post.readyAtMs = undefined;
    post.complete = true;
    worker.on('message', (received) => hear(post, worker, toMessage<FromWorker>(received)));
    worker.on('error', (error) => log.error('worker unreachable', { worker: post.number, why: String(error) }));
    worker.on('exit', (code, signal) => {
      limitServer?.leave(worker.id);
      bury(post, code, signal);
    });
  }

  function hear(post: Post, worker: Worker, message: FromWorker | undefined): void {
    switch (message?.kind) {
      case 'count': {
        const answers = limitServer?.answer(worker.id, message.questions) ?? [];
        if (answers.length > 0 && worker.isConnected()) worker.send({ kind: 'counted', answers } satisfies ToWorker);
        break;
      }
      case 'ready':
        post.readyAtMs = performance.now();
        post.complete = false;
        failedStarts = 0;
        log.info('worker is ready', { worker: post.number, pid: post.worker?.process.pid });
        noteReady(message.listening);
        // The worker was still starting when the others were notified.
        if (isEnding) post.worker?.send({ kind: 'drain' } satisfies ToWorker);
        break;
      case 'reading':
        if (message.isPart) post.latestPart = { ...post.latestPart, ...message.reading };
        else post.latest = message.reading;
        noteAnswer(post, message.turn);
        break;
      case 'drained':
        post.latest = message.reading;
        post.complete = message.complete;
    }
  }

  /** Notes that a worker is ready. The first one also gives the port, and has logged the warnings; the others are forked then. */
  function noteReady(at: Listening): void {
    if (listening === undefined) {
      listening = at;
      for (const post of posts.slice(1)) if (!isEnding) fork(post);
    }
    if (posts.every(({ readyAtMs }) => readyAtMs !== undefined)) started.resolve(listening);
  }

  function bury(post: Post, code: number | null, signal: string | null): void {
    const { readyAtMs } = post;
    post.worker = undefined;
    post.readyAtMs = undefined;
    retired = addReadings([retired, onlyCounts(post.latest)]);
    retiredPart = addReadings([retiredPart, onlyCounts(post.latestPart)]);
    post.latest = {};
    post.latestPart = {};
    for (const one of asked.keys()) noteAnswer(post, one);
    if (isEnding) {
      if (posts.every(({ worker }) => worker === undefined)) gone.resolve();
      return;
    }
    const wasReady = readyAtMs !== undefined;
    if (!wasReady && isHopeless(code)) return;
    const livedLong = wasReady && performance.now() - readyAtMs >= steadyMs;
    post.deaths = livedLong ? 0 : post.deaths + 1;
    const delayMs = livedLong ? 0 : Math.min(longestDelayMs, firstDelayMs * 2 ** (post.deaths - 1));
    log.error('worker exited unexpectedly', { worker: post.number, code, signal, delay_ms: delayMs });
    restarts += 1;
    const timer = setTimeout(() => {
      delayed.delete(timer);
      if (!isEnding) fork(post);
    }, delayMs);
    delayed.add(timer);
  }

  /** Ends the start, or all workers, where another attempt is useless. As long as one worker serves, dead ones are restarted instead. */
  function isHopeless(code: number | null): boolean {
    const serving = posts.filter(({ readyAtMs }) => readyAtMs !== undefined).length;
    if (code === faultCode && serving === 0) {
      giveUp(1);
      return true;
    }
    failedStarts += 1;
    if (failedStarts < failedStartsAllowed) return false;
    const fields = { code, failed_starts: failedStarts };
    if (serving === 0) {
      log.error('workers fail to start: exiting', fields);
      giveUp(2);
      return true;
    }
    log.error('some workers fail to start', { ...fields, serving });
    failedStarts = 0;
    if (listening !== undefined) started.resolve(listening);
    return false;
  }

  function giveUp(code: ExitCode): void {
    isEnding = true;
    started.resolve(code);
    broken.resolve(code);
  }

  function noteAnswer(post: Post, to: number): void {
    const { waiting, answered } = asked.get(to) ?? {};
    waiting?.delete(post);
    if (waiting?.size === 0) answered?.();
  }

  function send(message: ToWorker): void {
    for (const { worker } of posts) if (worker?.isConnected() === true) worker.send(message);
  }

  return {
    /** Resolves when all workers serve, or some do while others are restarted; with an exit code where none can serve. */
    start(): Promise<Listening | ExitCode> {
      const [first] = posts;
      if (first !== undefined) fork(first);
      return started.promise;
    },
    broken: broken.promise,
    get restarts(): number {
      return restarts;
    },
    send,
    async read(only?: ReadonlySet<MetricName>): Promise<Reading[]> {
      turn += 1;
      const mine = turn;
      const waiting = new Set(posts.filter(({ readyAtMs }) => readyAtMs !== undefined));
      if (waiting.size > 0) {
        const { promise: all, resolve: answered } = Promise.withResolvers<void>();
        asked.set(mine, { waiting, answered });
        send({ kind: 'read', turn: mine, ...(only && { only }) });
        await orAfter(all, readTimeoutMs);
        asked.delete(mine);
      }
      return only === undefined
        ? [retired, ...posts.map(({ latest }) => latest)]
        : [retiredPart, ...posts.map(({ latestPart }) => latestPart)];
    },
    /** Resolves when all workers have ended: true if each had finished its work. */
    async drain(): Promise<boolean> {
      isEnding = true;
      for (const timer of delayed) clearTimeout(timer);
      send({ kind: 'drain' });
      if (posts.some(({ worker }) => worker !== undefined)) await gone.promise;
      return posts.every(({ complete }) => complete);
    },
    kill(): void {
      isEnding = true;
      for (const timer of delayed) clearTimeout(timer);
      for (const { worker } of posts) worker?.process.kill('SIGKILL');
    },
  };
}

function emptyPost(number: number): Post {
  return { number, worker: undefined, readyAtMs: undefined, deaths: 0, latest: {}, latestPart: {}, complete: true };
}
