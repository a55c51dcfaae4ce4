/** Writes the lines of an exchange for the journal: by hand, and from pieces that are kept, as it is done twice for each request. */

import type { Capture, RowOutcome } from '../core/accounting/ledger-row.ts';
import type { Reservation } from '../core/accounting/spending.ts';
import { wordFor } from '../core/cache-use.ts';
import type { Exchange } from '../core/exchange.ts';
import type { KeyRecord } from '../core/key.ts';
import { upstreamNameOf } from '../core/model-name.ts';
import type { Route } from '../core/route.ts';
import type { Target } from '../core/snapshot.ts';
import { QuotedTexts, toNumber, toTenths, toTenthsText } from '../lib/json/json-pieces.ts';

/** Where a pattern is configured, clients choose the name of the model; the store keeps no more of it either. */
const longestModel = 256;

export class RowWriter {
  readonly #node: string;
  readonly #texts = new QuotedTexts();
  readonly #keys = new WeakMap<KeyRecord, string>();
  readonly #routes = new WeakMap<Route, string>();
  readonly #targets = new WeakMap<Target, string>();

  constructor(node: string) {
    this.#node = JSON.stringify(node);
  }

  intent(exchange: Exchange, { nanos, accounts }: Reservation): string {
    return `{"kind":"intent","row":{${this.#head(exchange)}},"reservedNanos":${toNumber(nanos)},"accounts":${this.#list(accounts)}}\n`;
  }

  settlement(
    exchange: Exchange,
    reservation: Reservation | undefined,
    nowMs: number,
    capture: Capture | undefined,
  ): string {
    const { usage, bill, startedMs, firstByteAtMs, tries, errorCode, cacheUse } = exchange;
    const hasLeft = errorCode === 'client_closed';
    const hasAnswer = firstByteAtMs !== 0;
    const cache = cacheUse === undefined ? 'null' : `"${wordFor(cacheUse)}"`;
    const row =
      this.#head(exchange) +
      this.#target(exchange) +
      `,"attempts":${exchange.attempts},"tries":${tries.length === 0 ? '[]' : toTries(tries)}` +
      `,"outcome":"${exchange.outcome ?? outcomeOf(exchange)}","status":${hasLeft ? 499 : exchange.status}` +
      (errorCode === undefined ? ',"error":null' : `,"error":"${errorCode}"`) +
      (usage === null
        ? ',"promptTokens":null,"completionTokens":null,"totalTokens":null,"searchUnits":null,"cachedTokens":null'
        : `,"promptTokens":${toNumber(usage.promptTokens)},"completionTokens":${toNumber(usage.completionTokens)}` +
          `,"totalTokens":${toNumber(usage.totalTokens)},"searchUnits":${toNumber(usage.searchUnits)}` +
          `,"cachedTokens":${toNumber(usage.cachedTokens)}`) +
      (bill === null
        ? ',"billedInputTokens":null,"billedOutputTokens":null,"billedSearchUnits":null,"isEstimated":false,"costNanos":0'
        : `,"billedInputTokens":${toNumber(bill.inputTokens)},"billedOutputTokens":${toNumber(bill.outputTokens)}` +
          `,"billedSearchUnits":${toNumber(bill.searchUnits)},"isEstimated":${bill.isEstimated}` +
          `,"costNanos":${toNumber(bill.costNanos)}`) +
      `,"responseBytes":${exchange.responseBytes},"durationMs":${toTenthsText(nowMs - startedMs)}` +
      (hasAnswer
        ? `,"firstByteMs":${toTenthsText(firstByteAtMs - startedMs)},"upstreamMs":${toTenthsText(firstByteAtMs - exchange.sentAtMs)}`
        : ',"firstByteMs":null,"upstreamMs":null') +
      (bill?.units === undefined
        ? `,"cache":${cache},"units":null`
        : `,"cache":${cache},"units":${JSON.stringify(bill.units)}`);
    const accounts = reservation === undefined ? '[]' : this.#list(reservation.accounts);
    const captured = capture === undefined ? '' : `,"capture":${JSON.stringify(capture)}`;
    return `{"kind":"settlement","row":{${row}},"accounts":${accounts}${captured}}\n`;
  }

  /** What an intent says as well. */
  #head(exchange: Exchange): string {
    const { clientRequestId, modelId, clientAddress, snapshot, trace } = exchange;
    return (
      `"id":"${exchange.id}","clientRequestId":${clientRequestId === undefined ? 'null' : JSON.stringify(clientRequestId)}` +
      `,"startedAtMs":${exchange.startedAtMs},"node":${this.#node}` +
      this.#key(exchange.key) +
      this.#route(exchange.route) +
      `,"model":${modelId === undefined ? 'null' : this.#texts.quote(modelId.slice(0, longestModel))}` +
      `,"items":${exchange.asking?.items ?? 0},"requestBytes":${exchange.requestBytes}` +
      (clientAddress === undefined || !snapshot.server.logClientAddress
        ? ',"clientAddress":null'
        : `,"clientAddress":${JSON.stringify(clientAddress)}`) +
      (trace === undefined ? ',"traceId":null' : `,"traceId":"${trace.traceId}"`)
    );
  }

  #key(key: KeyRecord | undefined): string {
    if (key === undefined) throw new TypeError('an exchange without a key has no row');
    const kept = this.#keys.get(key);
    if (kept !== undefined) return kept;
    const project = key.project === undefined ? 'null' : JSON.stringify(key.project);
    const text = `,"key":${JSON.stringify(key.id)},"project":${project}`;
    this.#keys.set(key, text);
    return text;
  }

  #route(route: Route | undefined): string {
    if (route === undefined) throw new TypeError('an exchange without a route has no row');
    const kept = this.#routes.get(route);
    if (kept !== undefined) return kept;
    const text = `,"route":${JSON.stringify(route.path)},"operation":"${route.operation}","label":"${route.own?.label ?? route.label}"`;
    this.#routes.set(route, text);
    return text;
  }

  #target(exchange: Exchange): string {
    const { target } = exchange;
    if (target === undefined) return ',"upstream":null,"upstreamModel":null';
    if (target.model.includes('*'))
      return this.#targetText(target, nameOf(exchange, target.model).slice(0, longestModel));
    const kept = this.#targets.get(target);
    if (kept !== undefined) return kept;
    const text = this.#targetText(target, target.model);
    this.#targets.set(target, text);
    return text;
  }

  #targetText({ upstream }: Target, model: string): string {
    return `,"upstream":${this.#texts.quote(upstream.id)},"upstreamModel":${this.#texts.quote(model)}`;
  }

  #list(texts: readonly string[]): string {
    let list = '[';
    for (const text of texts) list += (list === '[' ? '' : ',') + this.#texts.quote(text);
    return `${list}]`;
  }
}

/** What a pattern stood for: the upstream's name is made of it as the call's was. */
function nameOf({ snapshot, modelId = '' }: Exchange, pattern: string): string {
  const matched = snapshot.models.resolve(modelId)?.matched ?? '';
  return upstreamNameOf(pattern, matched);
}

/** Where nobody said how it ended: it failed before its end was looked at. */
function outcomeOf({ attempts }: Exchange): RowOutcome {
  return attempts === 0 ? 'refused' : 'error';
}

function toTries(tries: Exchange['tries']): string {
  return JSON.stringify(tries.map((one) => ({ ...one, durationMs: toTenths(one.durationMs) })));
}
