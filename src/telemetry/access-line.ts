/** Writes the access log line of a request, from an allow-list of fields without content, headers, query or credential. */

import { Buffer } from 'node:buffer';
import type { TryRecord } from '../core/accounting/ledger-row.ts';
import type { Usage } from '../core/accounting/usage.ts';
import type { Exchange } from '../core/exchange.ts';
import type { KeyRecord } from '../core/key.ts';
import type { LogSettings } from '../core/snapshot.ts';
import { QuotedTexts, toTenths } from '../lib/json/json-pieces.ts';
import type { LineBytes } from '../lib/line-bytes.ts';
import { withMasks } from '../lib/secrets/secret-shapes.ts';

/** The number that pino, a logging library, gives to the level "info". */
const infoLevel = 30;
const warnLevel = 40;
const errorLevel = 50;

const noUsage = ',"prompt_tokens":null,"completion_tokens":null,"total_tokens":null,"search_units":null';

/** The request's key, model and target, whose part of the line is cached: most requests with a key have the same ones as the last. */
interface Kind {
  readonly exchange: Pick<Exchange, 'path' | 'route' | 'modelId'>;
  readonly upstream: string | undefined;
  readonly method: string;
  readonly bytes: Buffer;
}

export class AccessLines {
  readonly #worker: string;
  readonly #texts = new QuotedTexts(withMasks);
  readonly #kinds = new WeakMap<KeyRecord, Kind>();

  constructor(worker: number | undefined) {
    this.#worker = worker === undefined ? '' : `,"worker":${worker}`;
  }

  /** Adds an access line with its line end to `line`. `time` is the time as text; `nowMs` is on the monotonic clock. */
  write(line: LineBytes, exchange: Exchange, method: string, time: string, nowMs: number): void {
    const { firstByteAtMs, startedMs, errorCode, errorCause, clientRequestId, clientAddress } = exchange;
    line.ascii('{"level":');
    line.number(levelOf(exchange));
    line.ascii(',"time":"');
    line.ascii(time);
    line.ascii('"');
    line.ascii(this.#worker);
    line.ascii(',"msg":"request","id":"');
    line.ascii(exchange.id);
    line.ascii('"');
    if (clientRequestId !== undefined) line.text(`,"client_request_id":${JSON.stringify(withMasks(clientRequestId))}`);
    if (exchange.trace !== undefined) line.text(`,"trace_id":"${exchange.trace.traceId}"`);
    line.copy(this.#kindOf(exchange, method));
    line.ascii(',"attempts":');
    line.number(exchange.attempts);
    if (exchange.tries.length > 0) line.text(`,"tries":${withMasks(JSON.stringify(exchange.tries.map(toTry)))}`);
    line.ascii(',"status":');
    line.number(exchange.status);
    if (errorCode !== undefined) line.text(this.#text('error', errorCode));
    if (errorCause !== undefined) line.text(`,"cause":${JSON.stringify(withMasks(errorCause))}`);
    if (exchange.client.gone) line.ascii(',"client_gone":true');
    if (exchange.cut) line.ascii(',"cut":true');
    line.ascii(',"request_bytes":');
    line.number(exchange.requestBytes);
    line.ascii(',"response_bytes":');
    line.number(exchange.responseBytes);
    line.ascii(',"duration_ms":');
    line.tenths(nowMs - startedMs);
    if (firstByteAtMs !== 0) {
      line.ascii(',"first_byte_ms":');
      line.tenths(firstByteAtMs - startedMs);
      line.ascii(',"upstream_ms":');
      line.tenths(firstByteAtMs - exchange.sentAtMs);
    }
    writeCounts(line, exchange.usage);
    if (clientAddress !== undefined && exchange.snapshot.server.logClientAddress) {
      line.text(`,"client_address":${JSON.stringify(clientAddress)}`);
    }
    line.ascii('}\n');
  }

  #kindOf({ path, route, key, modelId, target }: Exchange, method: string): Buffer {
    const upstream = target?.upstream.id;
    const known = key && this.#kinds.get(key);
    if (
      known?.exchange.path === path &&
      known?.exchange.route === route &&
      known?.exchange.modelId === modelId &&
      known?.upstream === upstream &&
      known?.method === method
    ) {
      return known.bytes;
    }
    const bytes = Buffer.from(
      this.#text('method', method) +
        this.#text('route', path) +
        (route === undefined ? '' : `,"operation":"${route.operation}","label":"${route.own?.label ?? route.label}"`) +
        this.#text('key', key?.id) +
        this.#text('model', modelId) +
        this.#text('upstream', upstream),
    );
    if (key !== undefined) this.#kinds.set(key, { exchange: { path, route, modelId }, upstream, method, bytes });
    return bytes;
  }

  #text(name: string, text: string | undefined): string {
    return text === undefined ? '' : `,"${name}":${this.#texts.quote(text)}`;
  }
}

function writeCounts(line: LineBytes, usage: Usage | null): void {
  if (usage === null) {
    line.ascii(noUsage);
    return;
  }
  line.ascii(',"prompt_tokens":');
  line.number(usage.promptTokens);
  line.ascii(',"completion_tokens":');
  line.number(usage.completionTokens);
  line.ascii(',"total_tokens":');
  line.number(usage.totalTokens);
  line.ascii(',"search_units":');
  line.number(usage.searchUnits);
}

/** The level of a request's line. A cause beside the client's message is of interest to the operator, even if only the client must act. */
export function levelOf({ status, errorCause }: Exchange): number {
  if (status >= 500) return errorLevel;
  return errorCause === undefined ? infoLevel : warnLevel;
}

function toTry({ durationMs, startMs, connectMs, ...one }: TryRecord): Record<string, unknown> {
  return {
    ...one,
    start_ms: startMs === undefined ? undefined : toTenths(startMs),
    duration_ms: toTenths(durationMs),
    connect_ms: connectMs === undefined ? undefined : toTenths(connectMs),
  };
}

/** Whether a request is logged. `chance` is from 0 to below 1; `nowMs` is on the monotonic clock. */
export function isLogged(exchange: Exchange, { access }: LogSettings, nowMs: number, chance: () => number): boolean {
  if (access.share === 1) return true;
  if (access.errors && isError(exchange)) return true;
  if (access.slowMs !== undefined && nowMs - exchange.startedMs >= access.slowMs) return true;
  return access.share > 0 && chance() < access.share;
}

function isError({ status, errorCode, errorCause, cut }: Exchange): boolean {
  return status >= 400 || cut || errorCode !== undefined || errorCause !== undefined;
}
