/** Caches parsed heads, which clients repeat. Connections share a head until the connection that brought it closes, so that no secret stays. */

import { Buffer } from 'node:buffer';
import type { WireFault } from './fault.ts';
import type { FieldLimits } from './fields.ts';
import { type RequestHead, readRequestHead } from './request-head.ts';

/** Longer heads are not cached. */
export const mostBytes = 2 * 1024;
/** Limit of the digits of a length, so that JavaScript represents the number exactly. */
const mostDigits = 15;
const mostShared = 1_024;
/** A power of two. */
const seenCount = 4_096;
const DIGIT_0 = 0x30;
/** How nearly all clients write the field, in either case. */
const beforeLength = Buffer.from('ength: ');

interface KnownHead {
  readonly head: RequestHead;
  readonly limits: FieldLimits;
  /** The bytes before and after the digits of its `Content-Length`. */
  readonly before: Buffer;
  readonly behind: Buffer;
  readonly hash: number;
}

interface SharedHead extends KnownHead {
  readonly owner: HeadMemo;
}

/** The shared heads of all connections, the oldest first. Of two heads with the same hash only one is kept. */
export class SharedHeads {
  readonly #byHash = new Map<number, SharedHead>();
  /** Hashes of heads that were received but not kept. */
  readonly #seen = new Int32Array(seenCount);

  /** Notes a head; true where it was noted before, and not too long ago. */
  wasSeen(hash: number): boolean {
    const at = hash & (seenCount - 1);
    const was = this.#seen[at] === hash;
    this.#seen[at] = hash;
    return was;
  }

  get(hash: number): KnownHead | undefined {
    return this.#byHash.get(hash);
  }

  put(shared: SharedHead): void {
    this.remove(this.#byHash.get(shared.hash));
    if (this.#byHash.size >= mostShared) this.remove(this.#byHash.values().next().value);
    this.#byHash.set(shared.hash, shared);
    shared.owner.owned.add(shared);
  }

  remove(shared: SharedHead | undefined): void {
    if (shared === undefined || this.#byHash.get(shared.hash) !== shared) return;
    this.#byHash.delete(shared.hash);
    shared.owner.owned.delete(shared);
  }
}

export class HeadMemo {
  readonly #shared: SharedHeads;
  /** The heads that this connection has shared. */
  readonly owned = new Set<SharedHead>();
  #last: KnownHead | undefined = undefined;
  /** Whether the last head was received on this connection, and is not shared yet. */
  #isNew = false;
  /** Whether the last two requests had different heads. */
  #changes = false;

  constructor(shared: SharedHeads) {
    this.#shared = shared;
  }

  /** Reads a head like `readRequestHead`, which is called if the head differs from known ones in more than the length. */
  read(bytes: Buffer, endsAt: number, limits: FieldLimits): RequestHead | WireFault {
    const last = this.#last;
    if (last !== undefined && last.limits === limits) {
      const found = this.#find(last, bytes, endsAt);
      if (found !== undefined) {
        found.fields.index();
        return found;
      }
    }
    const head = readRequestHead(bytes, endsAt, limits);
    if (!('kind' in head)) this.#keep(head, bytes, endsAt, limits);
    return head;
  }

  /** Finds a known head. If the last two differed, shared ones are tried first: through a proxy, one connection has requests of many clients. */
  #find(last: KnownHead, bytes: Buffer, endsAt: number): RequestHead | undefined {
    const same = this.#changes ? undefined : headOf(last, bytes, endsAt);
    if (same !== undefined) return same;
    this.#changes = true;
    return this.#readShared(last.limits, bytes, endsAt) ?? headOf(last, bytes, endsAt);
  }

  close(): void {
    for (const shared of this.owned) this.#shared.remove(shared);
  }

  #readShared(limits: FieldLimits, bytes: Buffer, endsAt: number): RequestHead | undefined {
    this.#share();
    const digitsAt = bytes.indexOf(beforeLength) + beforeLength.length;
    let behindAt = digitsAt;
    while (isDigit(bytes[behindAt])) behindAt += 1;
    const known = this.#shared.get(hashOf(bytes, digitsAt, behindAt, endsAt));
    const found = known?.limits === limits ? headOf(known, bytes, endsAt) : undefined;
    if (found === undefined) return undefined;
    this.#changes = known !== this.#last;
    this.#last = known;
    this.#isNew = false;
    return found;
  }

  /** Shares the last head, if a reader computed something from its fields: then the request was accepted. */
  #share(): void {
    const last = this.#last;
    if (!this.#isNew || last === undefined || last.head.fields.made === undefined) return;
    this.#shared.put({ ...last, owner: this });
    this.#isNew = false;
  }

  #keep(head: RequestHead, bytes: Buffer, endsAt: number, limits: FieldLimits): void {
    const lengthSpan = endsAt > mostBytes || head.expectsContinue ? undefined : head.fields.spanOf('content-length');
    if (lengthSpan === undefined) return;
    const hash = hashOf(bytes, lengthSpan.start, lengthSpan.end, endsAt);
    // Each head may hold an ID of its own: apart from the connection's first, only those are kept that come again.
    if (this.#last !== undefined && !this.#shared.wasSeen(hash)) return;
    this.#share();
    const before = Buffer.from(bytes.subarray(0, lengthSpan.start));
    const behind = Buffer.from(bytes.subarray(lengthSpan.end, endsAt));
    this.#last = { head, limits, before, behind, hash };
    this.#isNew = true;
  }
}

const isDigit = (byte = 0): boolean => byte >= DIGIT_0 && byte <= DIGIT_0 + 9;

function headOf({ head, before, behind }: KnownHead, bytes: Buffer, endsAt: number): RequestHead | undefined {
  const length = lengthBetween(before, behind, bytes, endsAt);
  if (length === undefined) return undefined;
  return length === head.bodyBytes ? head : { ...head, bodyBytes: length };
}

/** The number between two parts of a known head; undefined where other bytes differ, or the number could be written in two ways. */
export function lengthBetween(before: Buffer, behind: Buffer, bytes: Buffer, endsAt: number): number | undefined {
  const startsAt = before.length;
  const digits = endsAt - startsAt - behind.length;
  if (digits < 1 || digits > mostDigits) return undefined;
  let length = 0;
  for (let at = startsAt; at < startsAt + digits; at += 1) {
    const digit = (bytes[at] ?? 0) - DIGIT_0;
    if (digit < 0 || digit > 9) return undefined;
    length = length * 10 + digit;
  }
  if (digits > 1 && bytes[startsAt] === DIGIT_0) return undefined;
  if (before.compare(bytes, 0, startsAt) !== 0) return undefined;
  return behind.compare(bytes, endsAt - behind.length, endsAt) === 0 ? length : undefined;
}

/** A hash of the head without its digits. It finds candidates, whose bytes are then compared. */
function hashOf(bytes: Buffer, digitsAt: number, behindAt: number, endsAt: number): number {
  let hash = 0;
  for (let at = 0; at < endsAt; at += 1) {
    if (at === digitsAt) at = behindAt;
    hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
  }
  return hash;
}
