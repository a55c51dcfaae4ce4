/** Writes the structured log: JSON lines, with one access line per request. */

import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { destination, type Logger, pino } from 'pino';
import type { Exchange } from '../core/exchange.ts';
import type { DebugLog, Log } from '../core/log.ts';
import type { LogSettings } from '../core/snapshot.ts';
import { UserFault } from '../core/user-fault.ts';
import { LineBytes } from '../lib/line-bytes.ts';
import { withMasks } from '../lib/secrets/secret-shapes.ts';
import { codeOf, reasonOf } from '../lib/thrown.ts';
import { AccessLines, isLogged, levelOf } from './access-line.ts';
import { toLineForm } from './log-forms.ts';

export interface ProcessLog extends Log, DebugLog {
  /** Writes a request's access line, which has nothing of its text, headers, query or credential. */
  request(exchange: Exchange, method: string): void;
  follow(settings: LogSettings): void;
  /** Reopens the log file, which may have been moved away. */
  reopen(): void;
  /** Writes buffered lines, for up to two seconds: the process must be able to end although its disk is full, or nobody reads. */
  flush(): Promise<void>;
  /** Writes buffered lines and closes the file later: for a log that ends before its process. */
  close(): void;
}

/** Levels by the numbers of pino, a logging library. */
const levels = { debug: 20, info: 30, warn: 40, error: 50 } as const;

/** Mode of the log file: the group may read it, for log collectors. */
const fileMode = 0o640;

/** How long a line may be buffered; the buffer is written before the process ends. */
const flushIntervalMs = 250;
const flushWithinMs = 2_000;
const bufferedBytes = 64 * 1024;
/** Room in the buffer for a line that goes beyond the size at which the buffer is written. */
const usualLineBytes = 4 * 1024;
const writtenAtOnceBytes = 128 * 1024;
/** Limit of held bytes if the log's reader has stopped: further lines are dropped, so that the gateway does not run out of memory. */
const heldLimitBytes = 32 * 1024 * 1024;

/** Size of one write where processes share an output. Up to this size writes are atomic, so that lines are not mixed; each has whole lines. */
const sharedWriteBytes = 4096;

/** Replaces what pino calls at the exit of the process, which would repeat a failing write forever. */
const giveUp = (): void => undefined;

interface Shared {
  readonly worker: number | undefined;
}

/** Opens the log: appends to the configured file, or to standard output. Throws a UserFault where the file cannot be opened. */
export async function openLog(settings: LogSettings, shared?: Shared): Promise<ProcessLog> {
  if (settings.file === undefined) return createLog(1, settings, shared);
  try {
    // This reports a file that cannot be opened: the logging library could not close its destination again.
    closeSync(openSync(settings.file, 'a', fileMode));
  } catch (error) {
    throw new UserFault(`log.file: ${settings.file} cannot be written to (${codeOf(error) ?? reasonOf(error)})`);
  }
  const { log, out } = logTo(settings.file, settings, shared);
  await once(out, 'ready');
  return log;
}

/** Creates a log. `shared`: other processes write to the same output, and each line has the worker's number. */
export function createLog(fd: number, settings: LogSettings, shared?: Shared): ProcessLog {
  return logTo(fd, settings, shared).log;
}

/** Names of renamed events in 0.1, which their lines carry until 0.3, for alerts that look for them. `{field}` is the value of a field. */
export const formerNames: Readonly<Record<string, string>> = {
  'target in cooldown': 'target rests',
  'target cooldown ended': 'target is back',
  'target failing with no alternative': 'target fails, and is called all the same, as it has no alternative',
  'target health not stored': 'the state of the targets could not be stored',
  'model not listed by upstream': "target is not in the upstream's list of models",
  'configuration not reloaded': 'configuration not reloaded: the running one stays in force',
  'configuration not reloaded: restart required': 'configuration not reloaded: restart to change these settings',
  'configuration warning': '{warning}',
  'secrets key created': '{warning}',
  'stored configuration unreadable':
    'what is configured in the store cannot be read: the running configuration stays in force',
  'store unreachable for configuration': 'the store does not answer: what changes in it is in force once it does',
  'store reachable again for configuration': 'the store answers again',
  'store unreachable for budgets':
    'budgets cannot be drawn from the store: what was drawn is spent, then requests are refused',
  'store reachable again for budgets': 'budgets can be drawn from the store again',
  'store not opened': 'the store cannot be opened; rows stay in the journal until it can',
  'journal import failing': 'rows cannot go into the store; they stay in the journal until they can',
  'journal import working again': 'rows go into the store again',
  'journal import in progress': 'what stands in the journal goes into the store first',
  'journal not writable': 'the journal cannot be written: nothing new is taken on once its room is used up',
  'journal writable again': 'the journal can be written again',
  'journal not closed cleanly': 'the journal could not be ended properly: the next start does it',
  'journal damaged': 'a journal is damaged',
  'journal reader not closed': 'a journal could not be closed',
  'journal segment not closed': 'a journal segment could not be closed',
  'journal segment not deleted': 'an empty journal segment could not be deleted',
  'journals of other processes unreadable': 'the journals of other processes cannot be read',
  'request records lost': 'ends of exchanges are lost: too many wait for the journal',
  'old ledger rows not deleted': 'old rows cannot be deleted; it is tried again',
  'ledger live view interrupted': 'the ledger cannot be followed just now',
  'ledger thread crashed': 'the thread of the ledger died; it is started again',
  'redis unreachable for limits': 'redis is away: this node lets through its share of every limit, by its own count',
  'redis reachable again for limits': 'redis is back: limits are counted for all nodes together again',
  'redis late: limits decided locally': 'answers of redis were late: this node decided by what it knew',
  'parent process late: limits decided locally':
    'the process that counts for all workers does not answer: this one lets through its share',
  'node not deregistered from redis': 'could not say good-bye to redis',
  'node count unavailable': 'the nodes could not be counted in the store',
  'node budget lease expired': 'the store took this node for lost: what it had drawn from budgets was given to others',
  'budget threshold reached': 'a budget is spent to {percent} percent',
  'budget alert not sent: store unreachable': 'an alert was not sent, as the store is away',
  'budget alert not delivered': 'a webhook did not take an alert',
  'budget alert dropped: too many pending': 'too many alerts are under way: this one goes to no webhook',
  'POSTERN_KEY too short': 'POSTERN_KEY is shorter than 24 characters: good enough to try things out, too weak to keep',
  'admin listener not started: port taken':
    'port {port} on {host} is taken, so there is no listener for operators; set console.port to another one',
  'admin listener request failed': 'the listener for operators could not answer',
  'admin API request failed': 'the admin API could not answer',
  'console response interrupted': 'an answer of the console broke off',
  'stopping immediately': 'stopping at once',
  'worker unreachable': 'a worker could not be reached',
  'worker exited unexpectedly': 'worker ended; another takes its place',
  'workers fail to start: exiting': '{failed_starts} workers in a row died at their start: giving up',
};

/** An output that takes bytes: text would be encoded once more for the system. */
type Destination = Omit<ReturnType<typeof destination>, 'write'> & { write(bytes: Buffer): boolean };

function toDestination(dest: number | string, isShared: boolean, retryEAGAIN: () => boolean): Destination {
  const out: unknown = destination({
    dest,
    contentMode: 'buffer',
    mode: fileMode,
    sync: false,
    minLength: isShared ? sharedWriteBytes / 2 : bufferedBytes / 2,
    maxWrite: isShared ? sharedWriteBytes : writtenAtOnceBytes,
    maxLength: heldLimitBytes,
    // A flush during a write waits for this.
    periodicFlush: flushIntervalMs,
    retryEAGAIN,
  });
  return out as Destination;
}

function logTo(dest: number | string, settings: LogSettings, shared: Shared | undefined) {
  const isShared = shared !== undefined;
  const worker = shared?.worker;
  let isPatient = true;
  let isFailing = false;
  const out = toDestination(dest, isShared, () => isPatient);
  const { flushSync } = out;
  // A failed write must not end the process: the lines stay in memory for a while, and the next file may take them.
  out.on('error', (error: unknown) => {
    out.flushSync = giveUp;
    if (!isFailing) process.stderr.write(`postern: the log cannot be written: ${reasonOf(error)}\n`);
    isFailing = true;
  });
  out.on('write', () => {
    out.flushSync = isPatient ? flushSync : giveUp;
    isFailing = false;
  });
  const toForm = toLineForm(settings);
  const write = (line: string): boolean => out.write(Buffer.from(toForm === undefined ? line : toForm(line)));
  const timestamp = createTimestamp();
  const entries: Logger = pino(
    {
      base: worker === undefined ? null : { worker },
      timestamp: () => `,"time":"${timestamp()}"`,
      level: settings.level,
    },
    { write: (line) => write(withMasks(line)) },
  );

  const lines = new AccessLines(worker);
  // The destination scans all that it holds at every write: it gets many lines as one.
  const mostHeldBytes = isShared ? sharedWriteBytes : bufferedBytes;
  const held = new LineBytes(mostHeldBytes + usualLineBytes);
  let timer: NodeJS.Timeout | undefined;
  const handOver = (end = held.length): void => {
    clearTimeout(timer);
    timer = undefined;
    if (end === 0) return;
    const bytes = held.take(end);
    if (toForm === undefined) out.write(bytes);
    // Each line is written alone: its other form may be longer, and all together more than one write may hold.
    else for (const line of bytes.toString().split('\n').slice(0, -1)) write(line);
  };
  const at =
    (level: keyof Log): Log['info'] =>
    (message, fields = {}) => {
      handOver();
      const former = formerNames[message]?.replaceAll(/\{(\w+)\}/g, (_, field: string) => String(fields[field]));
      entries[level]({ ...fields, former_msg: former }, message);
      out.flush();
    };
  const flushed = (): Promise<unknown> => new Promise((resolve) => out.flush(resolve));
  const log: ProcessLog = {
    debug: (message, fields) => {
      handOver();
      entries.debug(fields, message);
    },
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    request(exchange, method) {
      const nowMs = performance.now();
      const { log: rule } = exchange.snapshot;
      if (!isLogged(exchange, rule, nowMs, Math.random) || levelOf(exchange) < levels[rule.level]) return;
      const start = held.length;
      lines.write(held, exchange, method, timestamp(), nowMs);
      // A write holds whole lines, and no more than may be written at once.
      if (isShared && held.length > mostHeldBytes) handOver(start);
      if (held.length >= mostHeldBytes) handOver();
      else timer ??= setTimeout(handOver, flushIntervalMs).unref();
    },
    follow: ({ level }) => {
      entries.level = level;
    },
    reopen: () => {
      handOver();
      if (settings.file !== undefined) out.reopen();
    },
    async flush() {
      handOver();
      // The first flush may leave as much as is not worth a write, and its error is reported.
      await Promise.race([flushed().then(flushed), wait(flushWithinMs, undefined, { ref: false })]);
      isPatient = false;
      out.flushSync = giveUp;
    },
    close: () => {
      handOver();
      out.end();
    },
  };
  return { log, out };
}

/** Creates a function that writes the time as text, with a cache: many lines fall into one millisecond, and formatting a date is costly. */
function createTimestamp(): () => string {
  let lastMs = 0;
  let text = '';
  return () => {
    const nowMs = Date.now();
    if (nowMs !== lastMs) {
      lastMs = nowMs;
      text = new Date(nowMs).toISOString();
    }
    return text;
  };
}
