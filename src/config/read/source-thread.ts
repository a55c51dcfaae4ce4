/** Runs as a thread that parses one large file and ends, so that its time and memory do not burden the gateway's thread. */

import { type MessagePort, workerData } from 'node:worker_threads';
import type { Positions, SourceFault } from './columns.ts';
import { readText } from './side-files.ts';
import { readSourceText } from './source.ts';

export interface SourceThreadData {
  readonly file: string;
  readonly largestBytes: number;
  readonly port: MessagePort;
}

/** The thread's first message. The scalars follow in pieces, each in a message of its own. */
export type SourceThreadReport =
  | { readonly reason: string }
  | {
      readonly reason?: undefined;
      readonly columns: Positions | undefined;
      readonly faults: readonly SourceFault[];
      readonly pieces: number;
    };

const scalarsPerPiece = 2000;

const { file, largestBytes, port }: SourceThreadData = workerData;
const content = await readText(file, largestBytes);
if ('text' in content) hand(readSourceText(content.text));
else port.postMessage({ reason: content.reason } satisfies SourceThreadReport);
port.close();

function hand({ columns, faults }: ReturnType<typeof readSourceText>): void {
  if (columns === undefined) {
    port.postMessage({ columns, faults, pieces: 0 } satisfies SourceThreadReport);
    return;
  }
  const { scalars, ...numbers } = columns;
  const { kinds, offsets, firsts, counts, keys, children, lineStarts } = numbers;
  const buffers = [kinds, offsets, firsts, counts, keys, children, lineStarts].map(({ buffer }) => buffer);
  const pieces = Math.ceil(scalars.length / scalarsPerPiece);
  port.postMessage({ columns: numbers, faults, pieces } satisfies SourceThreadReport, buffers);
  for (let at = 0; at < scalars.length; at += scalarsPerPiece)
    port.postMessage(scalars.slice(at, at + scalarsPerPiece));
}
