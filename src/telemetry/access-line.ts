/** The access log line of a request, from an allow-list of fields without content, headers, query or credential. */

import type { TryRecord } from '../core/accounting/ledger-row.ts';
import type { Usage } from '../core/accounting/usage.ts';
import type { Exchange } from '../core/exchange.ts';
import type { KeyRecord } from '../core/key.ts';
import type { LogSettings } from '../core/snapshot.ts';
import { QuotedTexts, toNumber, toTenths, toTenthsText } from '../lib/json/json-pieces.ts';
import { withMasks } from '../lib/secrets/secret-shapes.ts';

/** As pino numbers them. */
const infoLevel = 30;
const warnLevel = 40;
const errorLevel = 50;

const noUsage = ',"prompt_tokens":null,"completion_tokens":null,"total_tokens":null,"search_units":null';

/** A request's key, model and target: for most keys the next one is alike. */
interface Kind {
  readonly exchange: Pick<Exchange, 'path' | 'route' | 'modelId'>;
  readonly upstream: string | undefined;
  readonly method: string;
  readonly text: string;
}

export class AccessLines {
  readonly #worker: string;
  readonly #texts = new QuotedTexts(withMasks);
  readonly #kinds = new WeakMap<KeyRecord, Kind>();

  constructor(worker: number | undefined) {
    this.#worker = worker === undefined ? '' : `,"worker":${worker}`;
  }

  /** With its line end. `time` as text, `nowMs` on the monotonic clock. */
  write(exchange: Exchange, method: string, time: string, nowMs: number): string {
    const { firstByteAtMs, startedMs, errorCause, clientRequestId, clientAddress } = exchange;
    return (
      `{"level":${levelOf(exchange)},"time":"${time}"${this.#worker},"msg":"request","id":"${exchange.id}"` +
      (clientRequestId === undefined ? '' : `,"client_request_id":${JSON.stringify(withMasks(clientRequestId))}`) +
      (exchange.trace === undefined ? '' : `,"trace_id":"${exchange.trace.traceId}"`) +
      this.#kindOf(exchange, method) +
      `,"attempts":${exchange.attempts}` +
      (exchange.tries.length === 0 ? '' : `,"tries":${withMasks(JSON.stringify(exchange.tries.map(toTry)))}`) +
      `,"status":${exchange.status}` +
      this.#text('error', exchange.errorCode) +
      (errorCause === undefined ? '' : `,"cause":${JSON.stringify(withMasks(errorCause))}`) +
      (exchange.client.gone ? ',"client_gone":true' : '') +
      (exchange.cut ? ',"cut":true' : '') +
      `,"request_bytes":${exchange.requestBytes},"response_bytes":${exchange.responseBytes}` +
      `,"duration_ms":${toTenthsText(nowMs - startedMs)}` +
      (firstByteAtMs === 0
        ? ''
        : `,"first_byte_ms":${toTenthsText(firstByteAtMs - startedMs)},"upstream_ms":${toTenthsText(firstByteAtMs - exchange.sentAtMs)}`) +
      toCounts(exchange.usage) +
      (clientAddress === undefined || !exchange.snapshot.server.logClientAddress
        ? ''
        : `,"client_address":${JSON.stringify(clientAddress)}`) +
      '}\n'
    );
  }

  #kindOf({ path, route, key, modelId, target }: Exchange, method: string): string {
    const upstream = target?.upstream.id;
    const known = key && this.#kinds.get(key);
    if (
      known?.exchange.path === path &&
      known?.exchange.route === route &&
      known?.exchange.modelId === modelId &&
      known?.upstream === upstream &&
      known?.method === method
    ) {
      return known.text;
    }
    const text =
      this.#text('method', method) +
      this.#text('route', path) +
      (route === undefined ? '' : `,"operation":"${route.operation}","label":"${route.own?.label ?? route.label}"`) +
      this.#text('key', key?.id) +
      this.#text('model', modelId) +
      this.#text('upstream', upstream);
    if (key !== undefined) this.#kinds.set(key, { exchange: { path, route, modelId }, upstream, method, text });
    return text;
  }

  #text(name: string, text: string | undefined): string {
    return text === undefined ? '' : `,"${name}":${this.#texts.quote(text)}`;
  }
}

function toCounts(usage: Usage | null): string {
  if (usage === null) return noUsage;
  const { promptTokens, completionTokens, totalTokens, searchUnits } = usage;
  return (
    `,"prompt_tokens":${toNumber(promptTokens)},"completion_tokens":${toNumber(completionTokens)}` +
    `,"total_tokens":${toNumber(totalTokens)},"search_units":${toNumber(searchUnits)}`
  );
}

/** A request with a cause beside the client's message is of interest to the operator, even if it is the client's to wait. */
export function levelOf({ status, errorCause }: Exchange): number {
  if (status >= 500) return errorLevel;
  return errorCause === undefined ? infoLevel : warnLevel;
}

function toTry({ durationMs, startMs, ...one }: TryRecord): Record<string, unknown> {
  const start = startMs === undefined ? undefined : toTenths(startMs);
  return { ...one, start_ms: start, duration_ms: toTenths(durationMs) };
}

/** `chance` is from 0 to below 1; `nowMs` on the monotonic clock. */
export function isLogged(exchange: Exchange, { access }: LogSettings, nowMs: number, chance: () => number): boolean {
  if (access.share === 1) return true;
  if (access.errors && isError(exchange)) return true;
  if (access.slowMs !== undefined && nowMs - exchange.startedMs >= access.slowMs) return true;
  return access.share > 0 && chance() < access.share;
}

/** Also where the client did not see it. */
function isError({ status, errorCode, errorCause, cut }: Exchange): boolean {
  return status >= 400 || cut || errorCode !== undefined || errorCause !== undefined;
}
