/** The structured log: JSON lines, and one line for each request. */

import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { destination, type Logger, pino } from 'pino';
import type { Exchange } from '../core/exchange.ts';
import type { Log } from '../core/log.ts';
import { AccessLines } from './access-line.ts';

/** What a process that serves writes to. */
export interface ProcessLog extends Log {
  /** The access line. Nothing of the request's text, headers, query or credential can be in it. */
  request(exchange: Exchange, method: string): void;
  /** Writes out what is still in memory. */
  flush(): void;
}

/** A line may wait this long for company; what is in memory is written before the process ends. */
const flushIntervalMs = 250;
const bufferedBytes = 16 * 1024;
const writtenAtOnceBytes = 64 * 1024;
/** Whoever reads the log has stopped: lines beyond this are dropped, so that the gateway does not run out of memory. */
const heldLimitBytes = 32 * 1024 * 1024;

/**
 * Several processes share one output. Up to this size the system takes a write whole, so that no line of one is torn by another's;
 * a write holds whole lines.
 */
const sharedWriteBytes = 4096;

/** `shared`: other processes write to the same output; the worker's number stands in every line of its own. */
export function createLog(fd: number, shared?: { readonly worker: number | undefined }): ProcessLog {
  const isShared = shared !== undefined;
  const worker = shared?.worker;
  const out = destination({
    fd,
    sync: false,
    minLength: isShared ? sharedWriteBytes / 2 : bufferedBytes / 2,
    maxWrite: isShared ? sharedWriteBytes : writtenAtOnceBytes,
    maxLength: heldLimitBytes,
    // What is flushed while a write is under way waits for this.
    periodicFlush: flushIntervalMs,
  });
  const timestamp = createTimestamp();
  const log: Logger = pino(
    { base: worker === undefined ? null : { worker }, timestamp: () => `,"time":"${timestamp()}"` },
    out,
  );

  const lines = new AccessLines(worker);
  // The destination looks at all that it holds at every write: it gets many lines as one.
  let held = '';
  let timer: NodeJS.Timeout | undefined;
  const handOver = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (held !== '') out.write(held);
    held = '';
  };
  return {
    info: (message, fields = {}) => {
      handOver();
      log.info(fields, message);
      out.flush();
    },
    warn: (message, fields = {}) => {
      handOver();
      log.warn(fields, message);
      out.flush();
    },
    error: (message, fields = {}) => {
      handOver();
      log.error(fields, message);
      out.flush();
    },
    request(exchange, method) {
      const line = lines.write(exchange, method, timestamp(), performance.now());
      if (isShared && Buffer.byteLength(held) + Buffer.byteLength(line) > sharedWriteBytes) handOver();
      held += line;
      if (held.length >= bufferedBytes) handOver();
      else timer ??= setTimeout(handOver, flushIntervalMs).unref();
    },
    flush: () => {
      handOver();
      out.flushSync();
    },
  };
}

/** The time as text. Many lines fall into one millisecond, and writing a date costs more than the rest of a line. */
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
