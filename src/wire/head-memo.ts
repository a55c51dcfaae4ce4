/**
 * The last head of a connection, and what was read of it: clients send the same one with every request, but for the digits of its
 * Content-Length. It is as old as the connection at most, so no secret in it lives longer.
 */

import { Buffer } from 'node:buffer';
import type { WireFault } from './fault.ts';
import type { FieldLimits } from './fields.ts';
import { type RequestHead, readRequestHead } from './request-head.ts';

/** Longer ones are read each time. */
const mostBytes = 4 * 1024;
/** Fewer than make a number that JavaScript cannot hold. */
const mostDigits = 15;
const DIGIT_0 = 0x30;
const nothing = Buffer.alloc(0);

export class HeadMemo {
  #head: RequestHead | undefined = undefined;
  #limits: FieldLimits | undefined = undefined;
  /** Before and behind the digits. */
  #before: Buffer = nothing;
  #behind: Buffer = nothing;

  /** As `readRequestHead`, which is asked where any other byte differs. */
  read(bytes: Buffer, endsAt: number, limits: FieldLimits): RequestHead | WireFault {
    const known = limits === this.#limits ? this.#find(bytes, endsAt) : undefined;
    if (known !== undefined) return known;
    const head = readRequestHead(bytes, endsAt, limits);
    if (!('kind' in head)) this.#keep(head, bytes, endsAt, limits);
    return head;
  }

  #find(bytes: Buffer, endsAt: number): RequestHead | undefined {
    const head = this.#head;
    const startsAt = this.#before.length;
    const behindBytes = this.#behind.length;
    const digits = endsAt - startsAt - behindBytes;
    if (head === undefined || digits < 1 || digits > mostDigits) return undefined;
    let length = 0;
    for (let at = startsAt; at < startsAt + digits; at += 1) {
      const digit = (bytes[at] ?? 0) - DIGIT_0;
      if (digit < 0 || digit > 9) return undefined;
      length = length * 10 + digit;
    }
    if (digits > 1 && bytes[startsAt] === DIGIT_0) return undefined;
    if (this.#before.compare(bytes, 0, startsAt) !== 0) return undefined;
    if (this.#behind.compare(bytes, endsAt - behindBytes, endsAt) !== 0) return undefined;
    return length === head.bodyBytes ? head : { ...head, bodyBytes: length };
  }

  #keep(head: RequestHead, bytes: Buffer, endsAt: number, limits: FieldLimits): void {
    const place = endsAt > mostBytes || head.expectsContinue ? undefined : head.fields.placeOf('content-length');
    if (place === undefined) return;
    this.#head = head;
    this.#limits = limits;
    this.#before = Buffer.from(bytes.subarray(0, place.start));
    this.#behind = Buffer.from(bytes.subarray(place.end, endsAt));
  }
}
