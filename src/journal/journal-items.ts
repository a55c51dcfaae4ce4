/** Writes and reads the binary records in a journal frame: names, start records, settlements, and the journal's own records. */

import { Buffer } from 'node:buffer';
import type { IntentRecord, LedgerRow, RowOutcome, SettlementRecord } from '../core/accounting/ledger-row.ts';
import { type Frame, lineEnd } from './journal-frame.ts';

/**
 * An item is its kind (a byte), its length (four bytes) and its content. Numbers are varints, of which 0 is null and n + 1 is n. The number of a name
 * refers to a name item of the same segment. Versions add kinds, and readers skip unknown ones.
 */
export const itemKinds = { own: 1, name: 2, intent: 3, settlement: 4 } as const;
export const itemHeadBytes = 5;
export const idBytes = 16;
/** Outcomes in the order of their numbers in the journal. Numbers are never reused. */
export const outcomeCodes: readonly RowOutcome[] = ['ok', 'error', 'refused', 'aborted', 'cut', 'lost'];
export const cacheCodes: readonly (string | null)[] = [null, 'hit', 'partial', 'miss'];

/** Size of the stretches of a segment in each of which a name is repeated, so that damage elsewhere does not lose it. */
const stretchBytes = 256 * 1024;
/** Copies of a name per stretch: with one frame damaged, the others can be read. */
const framesPerStretch = 2;

/** Bytes of the number in a name's item, and of the number taken from an ID. */
const numberBytes = 6;
let lastNumber = 0;

/** Facts that rows refer to by number: of a key, a route, a model, a target, an account or a node. */
export type NameFields = Partial<
  Pick<
    LedgerRow,
    'node' | 'key' | 'project' | 'route' | 'operation' | 'label' | 'model' | 'upstream' | 'upstreamModel'
  > & {
    readonly account: string;
  }
>;

export class Name {
  readonly number: number;
  readonly item: Buffer;
  readonly bytes: number;
  /** Number of the latest part (items that are written together) that defines this name, and below of the one before. */
  #lastPart = 0;
  #priorPart = 0;
  #segment: object | undefined = undefined;
  #stretch = 0;
  #frames = 0;
  #lastOffset = -1;

  constructor(fields: NameFields) {
    this.number = ++lastNumber;
    const text = JSON.stringify(fields);
    const item = Buffer.allocUnsafeSlow(itemHeadBytes + numberBytes + Buffer.byteLength(text));
    item[0] = itemKinds.name;
    item.writeUInt32LE(item.length - itemHeadBytes, 1);
    item.writeUIntLE(this.number, itemHeadBytes, numberBytes);
    item.write(text, itemHeadBytes + numberBytes);
    this.item = item;
    this.bytes = item.length;
  }

  /** Notes that a part needs the name; false where it has it already. Two parts are filled at the same time. */
  enter(part: number): boolean {
    if (this.#lastPart === part || this.#priorPart === part) return false;
    this.#priorPart = this.#lastPart;
    this.#lastPart = part;
    return true;
  }

  /** Whether the frame that begins at the offset must hold this name. Asked once per written frame. */
  isDue(segment: object, offset: number): boolean {
    const stretch = Math.floor(offset / stretchBytes);
    if (this.#segment !== segment || this.#stretch !== stretch) {
      this.#segment = segment;
      this.#stretch = stretch;
      this.#frames = 0;
      this.#lastOffset = -1;
    }
    if (this.#frames >= framesPerStretch || this.#lastOffset === offset) return false;
    this.#frames += 1;
    this.#lastOffset = offset;
    return true;
  }
}

/** A row as an item, with the names it refers to; valid until the next one is written. */
export interface RowItem {
  readonly buffer: Buffer;
  readonly length: number;
  readonly names: readonly Name[];
}

/** A frame's payload with this row only. */
export function toPayload({ buffer, length, names }: RowItem): Buffer {
  return Buffer.concat([...new Set(names)].map(({ item }) => item).concat(buffer.subarray(0, length)));
}

/** The beginning of a line with which version 0.1.0 recorded the end of an exchange. */
const settlementLine = '{"kind":"settlement"';

export function countSettlements({ payload, isItems }: Pick<Frame, 'payload' | 'isItems'>): number {
  if (!isItems) return linesOf(payload).filter((line) => line.startsWith(settlementLine)).length;
  let count = 0;
  for (let at = 0; at + itemHeadBytes <= payload.length; at = endOfItem(payload, at)) {
    if (payload[at] === itemKinds.settlement) count += 1;
  }
  return count;
}

export function endsAnItem(items: Buffer): boolean {
  let at = 0;
  while (at + itemHeadBytes <= items.length) at = endOfItem(items, at);
  return at === items.length;
}

const endOfItem = (payload: Buffer, at: number): number => at + itemHeadBytes + payload.readUInt32LE(at + 1);

/** Splits text into lines, each copied, so that keeping one does not keep its neighbours. Bodies are escaped: no line break is inside a line. */
function linesOf(text: Buffer): string[] {
  const lines: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf(lineEnd, start);
    if (end < 0) break;
    lines.push(text.toString('utf8', start, end));
    start = end + 1;
  }
  return lines;
}

type ItemRecord = IntentRecord | SettlementRecord;

const unnamed: NameFields = {};
const none: readonly string[] = [];
const noTries: LedgerRow['tries'] = [];

/** The number in the last digits of an ID; 0 where they are no digits. */
export const idNumberOf = (id: string): number => Number.parseInt(id.slice(-2 * numberBytes), 16) || 0;

export class ItemReader {
  readonly #names = new Map<number, NameFields>();
  /** The number in the last ID that was read: faster to look up than the ID's text. */
  idNumber = 0;
  #payload: Buffer = Buffer.alloc(0);
  #at = 0;
  #end = 0;

  clear(): void {
    this.#names.clear();
  }

  /** Yields each record of a frame: rows as objects, other items and lines of version 0.1.0 as text; undefined for an unknown name. */
  *read({ payload, isItems }: Pick<Frame, 'payload' | 'isItems'>): Generator<ItemRecord | string | undefined> {
    if (!isItems) {
      yield* linesOf(payload);
      return;
    }
    for (let at = 0; at + itemHeadBytes <= payload.length; ) {
      const kind = payload[at];
      const start = at + itemHeadBytes;
      const end = start + payload.readUInt32LE(at + 1);
      at = end;
      if (kind === itemKinds.name) {
        const number = payload.readUIntLE(start, numberBytes);
        this.#names.set(number, JSON.parse(payload.toString('utf8', start + numberBytes, end)));
      } else if (kind === itemKinds.own) {
        yield payload.toString('utf8', start, end);
      } else if (kind === itemKinds.intent || kind === itemKinds.settlement) {
        this.#payload = payload;
        this.#at = start;
        this.#end = end;
        yield kind === itemKinds.intent ? this.#intent() : this.#settlement();
      }
    }
  }

  #intent(): IntentRecord | undefined {
    const row = this.#head();
    const reservedNanos = this.#count() ?? 0;
    const accounts = this.#accounts();
    if (row === undefined || accounts === undefined) return undefined;
    const rare = this.#rare();
    if (rare !== undefined) this.#addRare(row, rare.row);
    return { kind: 'intent', row, reservedNanos, accounts };
  }

  /** Reads a settlement's fields in the written order. All are listed, as spreading objects would cost more than all else. */
  #settlement(): SettlementRecord | undefined {
    const head = this.#head();
    const target = this.#name();
    const outcome = outcomeCodes[this.#byte()] ?? 'error';
    const cache = cacheCodes[this.#byte()] ?? null;
    const isEstimated = this.#byte() === 1;
    if (head === undefined || target === undefined) return undefined;
    const row: LedgerRow = {
      id: head.id,
      clientRequestId: null,
      startedAtMs: head.startedAtMs,
      node: head.node,
      key: head.key,
      project: head.project,
      route: head.route,
      operation: head.operation,
      label: head.label,
      model: head.model,
      upstream: target.upstream ?? null,
      upstreamModel: target.upstreamModel ?? null,
      attempts: this.#count() ?? 0,
      tries: noTries,
      outcome,
      status: this.#count() ?? 0,
      error: null,
      promptTokens: this.#count(),
      completionTokens: this.#count(),
      totalTokens: this.#count(),
      searchUnits: this.#count(),
      cachedTokens: this.#count(),
      billedInputTokens: this.#count(),
      billedOutputTokens: this.#count(),
      billedSearchUnits: this.#count(),
      isEstimated,
      items: head.items,
      costNanos: this.#count(),
      requestBytes: head.requestBytes,
      responseBytes: this.#count() ?? 0,
      durationMs: this.#tenths() ?? 0,
      firstByteMs: this.#tenths(),
      upstreamMs: this.#tenths(),
      cache,
      clientAddress: null,
      traceId: null,
      queueMs: null,
      connectMs: null,
      units: null,
    };
    const accounts = this.#accounts();
    if (accounts === undefined) return undefined;
    const rare = this.#rare();
    if (rare === undefined) return { kind: 'settlement', row, accounts };
    this.#addRare(row, rare.row);
    return { kind: 'settlement', row, accounts, ...(rare.capture === undefined ? {} : { capture: rare.capture }) };
  }

  #head(): IntentRecord['row'] | undefined {
    const id = this.#payload.toString('hex', this.#at, this.#at + idBytes);
    this.idNumber = this.#payload.readUIntBE(this.#at + idBytes - numberBytes, numberBytes);
    this.#at += idBytes;
    const startedAtMs = this.#count() ?? 0;
    const node = this.#name()?.node;
    const key = this.#name();
    const route = this.#name();
    const model = this.#name();
    const items = this.#count() ?? 0;
    const requestBytes = this.#count() ?? 0;
    if (node === undefined || key?.key === undefined || model === undefined) return undefined;
    if (route?.route === undefined || route.operation === undefined || route.label === undefined) return undefined;
    return {
      id,
      clientRequestId: null,
      startedAtMs,
      node,
      key: key.key,
      project: key.project ?? null,
      route: route.route,
      operation: route.operation,
      label: route.label,
      model: model.model ?? null,
      items,
      requestBytes,
      clientAddress: null,
      traceId: null,
    };
  }

  #accounts(): readonly string[] | undefined {
    const count = this.#count() ?? 0;
    if (count === 0) return none;
    const accounts: string[] = [];
    for (let index = 0; index < count; index++) {
      const account = this.#name()?.account;
      if (account !== undefined) accounts.push(account);
    }
    return accounts.length === count ? accounts : undefined;
  }

  #rare(): { readonly row: Partial<LedgerRow>; readonly capture?: SettlementRecord['capture'] } | undefined {
    if (this.#at >= this.#end) return undefined;
    return JSON.parse(this.#payload.toString('utf8', this.#at, this.#end));
  }

  #addRare(row: object, rare: Partial<LedgerRow>): void {
    Object.assign(row, rare);
    if (rare?.id !== undefined) this.idNumber = idNumberOf(rare.id);
  }

  #byte(): number {
    return this.#payload[this.#at++] ?? 0;
  }

  #varint(): number {
    const payload = this.#payload;
    let byte = payload[this.#at++] ?? 0;
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let scale = 128; ; scale *= 128) {
      byte = payload[this.#at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }

  #count(): number | null {
    const value = this.#varint();
    return value === 0 ? null : value - 1;
  }

  #tenths(): number | null {
    const tenths = this.#count();
    return tenths === null ? null : tenths / 10;
  }

  #name(): NameFields | undefined {
    const number = this.#varint();
    return number === 0 ? unnamed : this.#names.get(number);
  }
}
