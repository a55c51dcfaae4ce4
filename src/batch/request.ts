/** Locates the parts of a list request, and writes requests for some of its items. */

import { Buffer } from 'node:buffer';
import { type JsonField, replaceSpans } from '../lib/json/json-scan.ts';
import { JsonWalk } from '../lib/json/json-walk.ts';
import type { Items, ListRequest, Member, Top } from './codecs/codec.ts';

/** A list request from a body that was scanned and found valid. */
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

/** The body of a request for only these items; all other bytes are unchanged. */
export function bodyFor(
  request: ListRequest,
  top: Top | undefined,
  { span, isList }: Items,
  items: readonly Buffer[],
): Buffer {
  const { body } = request;
  const patches = [{ ...span, pieces: isList ? listed(items) : [...items] }];
  for (const gap of request.without ?? []) patches.push({ ...gap, pieces: [] });
  if (top !== undefined) {
    const { around: [before, behind] = ['', ''], count } = top;
    patches.push({ ...top.span, pieces: [Buffer.from(before + count + behind)] });
  }
  patches.sort((a, b) => a.start - b.start);
  return replaceSpans(body, patches);
}

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');

function listed(items: readonly Buffer[]): Buffer[] {
  const pieces: Buffer[] = [OPEN];
  for (const item of items) {
    if (pieces.length > 1) pieces.push(COMMA);
    pieces.push(item);
  }
  pieces.push(CLOSE);
  return pieces;
}
