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
  { span, isList }: Items,
  items: readonly Buffer[],
): Buffer {
  const { body } = request;
  const patches: Patch[] = [{ span, pieces: isList ? listed(items) : [...items] }];
  for (const gap of request.without ?? []) patches.push({ span: gap, pieces: [] });
  if (top !== undefined) {
    const { around: [before, behind] = ['', ''], count } = top;
    patches.push({ span: top.span, pieces: [Buffer.from(before + count + behind)] });
  }
  patches.sort((a, b) => a.span.start - b.span.start);
  const pieces: Buffer[] = [];
  let at = 0;
  for (const patch of patches) {
    pieces.push(body.subarray(at, patch.span.start), ...patch.pieces);
    at = patch.span.end;
  }
  pieces.push(body.subarray(at));
  return Buffer.concat(pieces);
}

interface Patch {
  readonly span: JsonSpan;
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
