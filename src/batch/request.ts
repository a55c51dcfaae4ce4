/** A list request, and derived requests for a part of its items. */

import { Buffer } from 'node:buffer';
import type { JsonSpan } from '../lib/json/json-elements.ts';
import type { JsonField } from '../lib/json/json-scan.ts';
import { JsonWalk } from '../lib/json/json-walk.ts';
import type { Items, ListRequest, Member, Top } from './codecs/codec.ts';

/** `body` was scanned, and is valid. */
export function toListRequest(body: Buffer, list: JsonField): ListRequest {
  const members: Member[] = [];
  const walk = new JsonWalk(body);
  walk.object((name) => {
    walk.peek();
    const isList = walk.at === list.start;
    if (isList) walk.at = list.end;
    members.push({ name, value: isList ? list : walk.value() });
  });
  return { body, list, members };
}

/** The request for these items only: all other bytes unchanged. */
export function bodyFor(
  request: ListRequest,
  top: Top | undefined,
  { place, isList }: Items,
  items: readonly Buffer[],
): Buffer {
  const { body } = request;
  const patches: Patch[] = [{ place, pieces: isList ? listed(items) : [...items] }];
  for (const gap of request.without ?? []) patches.push({ place: gap, pieces: [] });
  if (top !== undefined) {
    const { around: [before, behind] = ['', ''], count } = top;
    patches.push({ place: top.place, pieces: [Buffer.from(before + count + behind)] });
  }
  patches.sort((a, b) => a.place.start - b.place.start);
  const pieces: Buffer[] = [];
  let at = 0;
  for (const patch of patches) {
    pieces.push(body.subarray(at, patch.place.start), ...patch.pieces);
    at = patch.place.end;
  }
  pieces.push(body.subarray(at));
  return Buffer.concat(pieces);
}

interface Patch {
  readonly place: JsonSpan;
  readonly pieces: readonly Buffer[];
}

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');

function listed(items: readonly Buffer[]): Buffer[] {
  const pieces: Buffer[] = [OPEN];
  for (const [index, item] of items.entries()) {
    if (index > 0) pieces.push(COMMA);
    pieces.push(item);
  }
  pieces.push(CLOSE);
  return pieces;
}
