/** Compares the request parser of `src/wire` with `node:http`, and with itself at other splits. */

import { METHODS } from 'node:http';
import type { NodeReader } from './node-reading.ts';
import { readAsWeDo } from './own-reading.ts';
import { differenceOf, type Reading, shown } from './reading.ts';

interface Exception {
  readonly what: string;
  readonly why: string;
  fits(ours: Reading, theirs: Reading, text: string): boolean;
}

const known = new Set(METHODS);

/** Where it refuses or ends what the wire reads on, and why that is no danger. Nothing is read in two ways. */
export const nodeExceptions: readonly Exception[] = [
  {
    what: 'a method that node:http does not know',
    why: 'Every method of the grammar is read; no route has such a one, and it is answered 405 or 404.',
    fits: (ours, theirs) =>
      theirs.why === 'HPE_INVALID_METHOD' && !known.has(ours.requests[theirs.requests.length]?.method ?? 'GET'),
  },
  {
    what: 'PRI with a path and HTTP/1.1',
    why: 'As above; the preface of HTTP/2 itself is refused.',
    fits: (ours, theirs) => ours.requests[theirs.requests.length]?.method === 'PRI' && theirs.end === 'refused',
  },
  {
    what: 'Proxy-Connection: close',
    why: 'No standard knows it. It takes it for Connection, and reads nothing behind the request; that one is the same.',
    fits: (_ours, theirs, text) => theirs.why === 'HPE_CLOSED_CONNECTION' && /^proxy-connection:.*close/im.test(text),
  },
  {
    what: 'Connection: close among the trailers',
    why: 'A trailer changes nothing about the connection. It takes it for a header, and reads nothing behind the request; that one is the same.',
    fits: (_ours, theirs, text) =>
      theirs.why === 'HPE_CLOSED_CONNECTION' && /\r\n0+(?:;.*)?\r\n(?:.+\r\n)*connection:.*close/im.test(text),
  },
  {
    what: 'blanks in the extension of a chunk',
    why: 'RFC 9112, 7.1.1 has recipients take them behind the semicolon and around the equals sign. It refuses them.',
    fits: (_ours, theirs, text) =>
      theirs.end === 'refused' && /^[0-9a-f]+;.*(?:;[ \t]|[ \t]=|=[ \t]|[ \t];)|^[0-9a-f]+;[ \t]/im.test(text),
  },
];

export interface Comparison {
  readonly ours: Reading;
  /** How the two differ, without an exception that allows it. */
  readonly fault: string | undefined;
  readonly exception: Exception | undefined;
}

export async function compareWithNode(reader: NodeReader, bytes: Buffer): Promise<Comparison> {
  const ours = readAsWeDo([bytes]);
  const theirs = await reader.read(bytes);
  const difference = differenceOf(ours, theirs);
  if (difference === undefined) return { ours, fault: undefined, exception: undefined };
  const text = bytes.toString('latin1');
  const exception = nodeExceptions.find(({ fits }) => fits(ours, theirs, text));
  return { ours, fault: exception === undefined ? `${difference}: ${shown(text)}` : undefined, exception };
}

/** How the reading changes where the bytes come in these segments; undefined where it does not. */
export function faultOfSplit(whole: Reading, segments: readonly Buffer[]): string | undefined {
  const split = readAsWeDo(segments);
  if (isSame(whole, split)) return undefined;
  const lengths = segments.map(({ length }) => length).join(' + ');
  return `${describe(whole)} in one piece, ${describe(split)} in ${lengths}: ${shown(Buffer.concat(segments).toString('latin1'))}`;
}

function isSame(one: Reading, other: Reading): boolean {
  return one.end === other.end && JSON.stringify(one.requests) === JSON.stringify(other.requests);
}

function describe({ requests, end, why = '' }: Reading): string {
  return `${requests.length} requests, ${end} ${why}`;
}
