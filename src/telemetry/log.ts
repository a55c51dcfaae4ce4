/** The structured log: JSON lines, and one line for each request, built from an allow-list of fields. */

import { destination, type Logger, pino } from 'pino';
import type { Exchange } from '../core/exchange.ts';
import type { TryRecord } from '../core/ledger-row.ts';

export interface Log {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
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

/** As pino numbers them. */
const infoLevel = 30;
const warnLevel = 40;
const errorLevel = 50;

/** `shared`: other processes write to the same output; the worker's number stands in every line of its own. */
export function createLog(fd: number, shared?: { readonly worker: number | undefined }): Log {
  const isShared = shared !== undefined;
  const worker = shared?.worker;
  const out = destination({
    fd,
    sync: false,
    minLength: isShared ? sharedWriteBytes / 2 : bufferedBytes,
    maxWrite: isShared ? sharedWriteBytes : writtenAtOnceBytes,
    maxLength: heldLimitBytes,
    periodicFlush: flushIntervalMs,
  });
  const timestamp = createTimestamp();
  const log: Logger = pino(
    { base: worker === undefined ? null : { worker }, timestamp: () => `,"time":"${timestamp()}"` },
    out,
  );

  let turn = '';
  const handOver = (): void => {
    if (turn !== '') out.write(turn);
    turn = '';
  };

  return {
    info: (message, fields = {}) => {
      log.info(fields, message);
      out.flush();
    },
    warn: (message, fields = {}) => {
      log.warn(fields, message);
      out.flush();
    },
    error: (message, fields = {}) => {
      log.error(fields, message);
      out.flush();
    },
    request(exchange, method) {
      // The destination copies all it holds at every write: it gets the lines of one turn of the event loop as one.
      const line = `${JSON.stringify(toLine(exchange, method, timestamp(), worker))}\n`;
      if (isShared && Buffer.byteLength(turn) + Buffer.byteLength(line) > sharedWriteBytes) handOver();
      if (turn === '') setImmediate(handOver);
      turn += line;
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

function toLine(exchange: Exchange, method: string, time: string, worker: number | undefined): Record<string, unknown> {
  const { target, usage, snapshot } = exchange;
  return {
    level: levelOf(exchange),
    time,
    worker,
    msg: 'request',
    id: exchange.id,
    client_request_id: exchange.clientRequestId,
    method,
    route: exchange.path,
    operation: exchange.route?.operation,
    label: exchange.route?.label,
    key: exchange.key?.id,
    model: exchange.modelId,
    upstream: target?.upstream.id,
    attempts: exchange.attempts,
    tries: exchange.tries.length === 0 ? undefined : exchange.tries.map(toTry),
    status: exchange.status,
    error: exchange.errorCode,
    cause: exchange.errorCause,
    client_gone: exchange.client.gone || undefined,
    cut: exchange.cut || undefined,
    request_bytes: exchange.requestBytes,
    response_bytes: exchange.responseBytes,
    duration_ms: toTenths(performance.now() - exchange.startedMs),
    first_byte_ms: exchange.firstByteAtMs === 0 ? undefined : toTenths(exchange.firstByteAtMs - exchange.startedMs),
    upstream_ms: exchange.firstByteAtMs === 0 ? undefined : toTenths(exchange.firstByteAtMs - exchange.sentAtMs),
    prompt_tokens: usage?.promptTokens ?? null,
    completion_tokens: usage?.completionTokens ?? null,
    total_tokens: usage?.totalTokens ?? null,
    search_units: usage?.searchUnits ?? null,
    client_address: snapshot.server.logClientAddress ? exchange.clientAddress : undefined,
  };
}

/** What has a cause beside what the client was told is of interest to the operator, though it may be the client's to wait. */
function levelOf({ status, errorCause }: Exchange): number {
  if (status >= 500) return errorLevel;
  return errorCause === undefined ? infoLevel : warnLevel;
}

function toTry({ upstream, model, credential, outcome, detail, durationMs }: TryRecord): Record<string, unknown> {
  return { upstream, model, credential, outcome, detail, duration_ms: toTenths(durationMs) };
}

function toTenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}
