/** Encodes the start and the settlement of a request as binary journal records, one record each. */

import { Buffer } from 'node:buffer';
import type { Capture, RowOutcome } from '../core/accounting/ledger-row.ts';
import type { Reservation } from '../core/accounting/spending.ts';
import { wordFor } from '../core/cache-use.ts';
import type { Exchange } from '../core/exchange.ts';
import type { KeyRecord } from '../core/key.ts';
import { upstreamNameOf } from '../core/model-name.ts';
import type { Route } from '../core/route.ts';
import type { Target } from '../core/snapshot.ts';
import {
  cacheCodes,
  idBytes,
  itemHeadBytes,
  itemKinds,
  Name,
  outcomeCodes,
  type RowItem,
} from '../journal/journal-items.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { toNumber, toTenths } from '../lib/json/json-pieces.ts';

/** Longest model name in a record, the same as in the store: where a model has a pattern, clients choose names. */
const longestModel = 256;
const usualBytes = 4_096;
/** A record buffer that grew beyond this size is not kept for the next record. */
const keptBytes = 1024 * 1024;
/** Upper bound of the bytes that the fixed fields of a record take. */
const fixedBytes = 512;
const bytesOfNumber = 8;
/** Limit of remembered names that clients choose; beyond it new names replace the oldest. */
const mostNames = 4_096;

export class RowWriter implements RowItem {
  buffer: Buffer = Buffer.allocUnsafeSlow(usualBytes);
  length = 0;
  readonly names: Name[] = [];
  /** Fields of the record that the fixed part does not have. */
  #rare: Record<string, unknown> | undefined = undefined;
  readonly #node: Name;
  readonly #keys = new WeakMap<KeyRecord, Name>();
  readonly #routes = new WeakMap<Route, Name>();
  readonly #targets = new WeakMap<Target, Name>();
  readonly #models = new Map<string, Name>();
  readonly #patterns = new Map<string, Name>();
  readonly #accounts = new Map<string, Name>();

  constructor(node: string) {
    this.#node = new Name({ node });
  }

  /** Encodes the start of a request. The result is valid until the next call of `intent` or `settlement`. */
  intent(exchange: Exchange, { nanos, accounts }: Reservation): RowItem {
    this.#head(itemKinds.intent, exchange);
    this.#count('reservedNanos', nanos);
    this.#putAccounts(accounts);
    return this.#end(undefined);
  }

  settlement(
    exchange: Exchange,
    reservation: Reservation | undefined,
    nowMs: number,
    capture: Capture | undefined,
  ): RowItem {
    const { usage, bill, startedMs, firstByteAtMs, tries, errorCode, cacheUse } = exchange;
    this.#head(itemKinds.settlement, exchange);
    this.#name(this.#target(exchange));
    this.#byte(outcomeCodes.indexOf(exchange.outcome ?? outcomeOf(exchange)));
    this.#byte(cacheUse === undefined ? 0 : cacheCodes.indexOf(wordFor(cacheUse)));
    this.#byte(bill?.isEstimated === true ? 1 : 0);
    this.#count('attempts', exchange.attempts);
    this.#count('status', errorCode === 'client_closed' ? 499 : exchange.status);
    this.#count('promptTokens', usage?.promptTokens);
    this.#count('completionTokens', usage?.completionTokens);
    this.#count('totalTokens', usage?.totalTokens);
    this.#count('searchUnits', usage?.searchUnits);
    this.#count('cachedTokens', usage?.cachedTokens);
    this.#count('billedInputTokens', bill?.inputTokens);
    this.#count('billedOutputTokens', bill?.outputTokens);
    this.#count('billedSearchUnits', bill?.searchUnits);
    this.#count('costNanos', bill === null ? 0 : bill.costNanos);
    this.#count('responseBytes', exchange.responseBytes);
    this.#tenths('durationMs', nowMs - startedMs);
    if (firstByteAtMs === 0) {
      this.#byte(0);
      this.#byte(0);
    } else {
      this.#tenths('firstByteMs', firstByteAtMs - startedMs);
      this.#tenths('upstreamMs', firstByteAtMs - exchange.sentAtMs);
    }
    this.#putAccounts(reservation?.accounts);
    if (tries.length > 0) {
      this.#append(
        'tries',
        tries.map((one) => ({
          ...one,
          startMs: tenthsOf(one.startMs),
          durationMs: toTenths(one.durationMs),
          connectMs: tenthsOf(one.connectMs),
        })),
      );
    }
    if (errorCode !== undefined) this.#append('error', errorCode);
    if (exchange.queuedMs > 0) this.#append('queueMs', toTenths(exchange.queuedMs));
    const connectMs = tenthsOf(exchange.client.connectMs);
    if (connectMs) this.#append('connectMs', connectMs);
    if (bill?.units !== undefined) this.#append('units', bill.units);
    return this.#end(capture);
  }

  #head(kind: number, exchange: Exchange): void {
    const { clientRequestId, modelId, clientAddress, snapshot, trace } = exchange;
    if (this.buffer.length > keptBytes) this.buffer = Buffer.allocUnsafeSlow(usualBytes);
    // One entry is kept: an empty list would give its memory back.
    while (this.names.length > 1) this.names.pop();
    this.names[0] = this.#node;
    this.#rare = undefined;
    this.buffer[0] = kind;
    this.length = itemHeadBytes;
    this.#id(exchange.id);
    this.#count('startedAtMs', exchange.startedAtMs);
    this.#varint(this.#node.number);
    this.#name(this.#key(exchange.key));
    this.#name(this.#route(exchange.route));
    this.#name(modelId === undefined ? undefined : this.#model(modelId.slice(0, longestModel)));
    this.#count('items', exchange.estimate?.items ?? 0);
    this.#count('requestBytes', exchange.requestBytes);
    if (clientRequestId !== undefined) this.#append('clientRequestId', clientRequestId);
    if (clientAddress !== undefined && snapshot.server.logClientAddress) this.#append('clientAddress', clientAddress);
    if (trace !== undefined) this.#append('traceId', trace.traceId);
  }

  #end(capture: Capture | undefined): RowItem {
    if (this.#rare !== undefined || capture !== undefined) {
      const text = JSON.stringify({ row: this.#rare, capture });
      // A character takes at most three bytes of UTF-8.
      this.#makeSpace(text.length * 3);
      this.length += this.buffer.write(text, this.length);
    }
    this.buffer.writeUInt32LE(this.length - itemHeadBytes, 1);
    return this;
  }

  #key(key: KeyRecord | undefined): Name {
    if (key === undefined) throw new TypeError('an exchange without a key has no row');
    return getOrMake(this.#keys, key, nameOfKey);
  }

  #route(route: Route | undefined): Name {
    if (route === undefined) throw new TypeError('an exchange without a route has no row');
    return getOrMake(this.#routes, route, nameOfRoute);
  }

  #target(exchange: Exchange): Name | undefined {
    const { target } = exchange;
    if (target === undefined) return undefined;
    const { model, upstream } = target;
    if (model.includes('*')) {
      const upstreamModel = nameOf(exchange, model).slice(0, longestModel);
      const kept = JSON.stringify([upstream.id, upstreamModel]);
      return keep(this.#patterns, kept, () => new Name({ upstream: upstream.id, upstreamModel }));
    }
    return getOrMake(this.#targets, target, nameOfTarget);
  }

  #model(model: string): Name {
    return this.#models.get(model) ?? keep(this.#models, model, () => new Name({ model }));
  }

  #putAccounts(accounts: readonly string[] | undefined): void {
    const count = accounts?.length ?? 0;
    this.#makeSpace(count * bytesOfNumber + fixedBytes);
    this.#varint(count + 1);
    if (accounts === undefined || count === 0) return;
    for (const account of accounts) {
      this.#name(this.#accounts.get(account) ?? keep(this.#accounts, account, () => new Name({ account })));
    }
  }

  #append(field: string, value: unknown): void {
    this.#rare ??= {};
    this.#rare[field] = value;
  }

  /** Writes an ID: one made by `createId` as bytes, any other as text. */
  #id(id: string): void {
    const { buffer, length } = this;
    this.length = length + idBytes;
    let isHex = id.length === 2 * idBytes;
    for (let index = 0; isHex && index < idBytes; index++) {
      const byte =
        ((digits[id.charCodeAt(2 * index)] ?? noDigit) << 4) | (digits[id.charCodeAt(2 * index + 1)] ?? noDigit);
      buffer[length + index] = byte;
      isHex = byte < noDigit;
    }
    if (isHex) return;
    buffer.fill(0, length, this.length);
    this.#append('id', id);
  }

  #name(name: Name | undefined): void {
    if (name === undefined) {
      this.#byte(0);
      return;
    }
    this.names.push(name);
    this.#varint(name.number);
  }

  #byte(value: number): void {
    this.buffer[this.length++] = value;
  }

  /** Writes a number: one that is no count as text, and one that JSON cannot represent as null. Upstreams may report such numbers. */
  #count(field: string, value: number | null | undefined): void {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) {
      this.#varint(value + 1);
      return;
    }
    this.#byte(0);
    const number = toNumber(value);
    if (number !== null) this.#append(field, number);
  }

  #tenths(field: string, ms: number): void {
    const tenths = Math.round(ms * 10);
    if (tenths >= 0 && Number.isSafeInteger(tenths)) {
      this.#varint(tenths + 1);
      return;
    }
    this.#byte(0);
    this.#append(field, toNumber(tenths / 10));
  }

  #varint(value: number): void {
    const { buffer } = this;
    let rest = value;
    for (; rest >= 0x8000_0000; rest = Math.floor(rest / 128)) buffer[this.length++] = (rest % 128) | 0x80;
    for (; rest >= 0x80; rest >>>= 7) buffer[this.length++] = (rest & 0x7f) | 0x80;
    buffer[this.length++] = rest;
  }

  #makeSpace(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(needed)));
    this.buffer.copy(larger, 0, 0, this.length);
    this.buffer = larger;
  }
}

/** Values of hex digits by character code; any other character gives a value above one byte. */
const noDigit = 0x100;
const digits = Uint16Array.from({ length: 128 }, (_, code) => {
  const digit = '0123456789abcdef'.indexOf(String.fromCharCode(code));
  return digit === -1 ? noDigit : digit;
});

const nameOfKey = ({ id, project }: KeyRecord): Name => new Name({ key: id, project: project ?? null });
const nameOfRoute = ({ path, operation, label, own }: Route): Name =>
  new Name({ route: path, operation, label: own?.label ?? label });
const nameOfTarget = ({ upstream, model }: Target): Name => new Name({ upstream: upstream.id, upstreamModel: model });

function keep(names: Map<string, Name>, text: string, make: () => Name): Name {
  const kept = names.get(text);
  if (kept !== undefined) return kept;
  if (names.size >= mostNames) names.clear();
  const name = make();
  names.set(text, name);
  return name;
}

/** The name of the called model at the upstream: the configured pattern, filled with the client's name for the model. */
function nameOf({ snapshot, modelId = '' }: Exchange, pattern: string): string {
  const matched = snapshot.models.resolve(modelId)?.matched ?? '';
  return upstreamNameOf(pattern, matched);
}

const tenthsOf = (ms: number | undefined): number | null | undefined => (ms === undefined ? undefined : toTenths(ms));

/** The outcome of an exchange that failed before one was set. */
function outcomeOf({ attempts }: Exchange): RowOutcome {
  return attempts === 0 ? 'refused' : 'error';
}
