/** Holds a token vocabulary in a few arrays, which threads can transfer without copying. */

import { Buffer } from 'node:buffer';

/** A vocabulary in the file format of OpenAI's tokenizers. */
interface WrittenPieces {
  /** Each line has a mark, which is ignored, the ID of its first piece, and its pieces by ascending ID, in base64. */
  readonly bpe_ranks: string;
  readonly special_tokens: Readonly<Record<string, number>>;
  readonly pat_str: string;
}

export interface PackedPieces {
  /** All pieces, in the order of their IDs. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** By ID: the offset at which its piece ends. An unused ID ends where the one before it does. */
  readonly ends: Uint32Array<ArrayBuffer>;
  /** A hash table of IDs by their pieces: each entry is the ID plus one, and 0 is free. Its size is a power of two. */
  readonly buckets: Uint32Array<ArrayBuffer>;
  /** A pattern that matches one word after another: no token spans two of them. */
  readonly words: string;
}

/** Looks up pieces, which are texts with one character for each byte. */
export interface PieceTable {
  readonly words: RegExp;
  /** The piece of an ID; undefined for an unused ID. */
  pieceOf(id: number): string | undefined;
  idOf(piece: string): number | undefined;
}

export function packPieces({ bpe_ranks: lines, special_tokens: special, pat_str: words }: WrittenPieces): PackedPieces {
  const pieces: (Buffer | undefined)[] = [];
  for (const line of lines.split('\n')) {
    const [, first, ...encoded] = line.split(' ');
    for (const [index, piece] of encoded.entries()) pieces[Number(first) + index] = Buffer.from(piece, 'base64');
  }
  for (const [text, id] of Object.entries(special)) pieces[id] = Buffer.from(text);
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + (piece?.length ?? 0), 0));
  const ends = new Uint32Array(pieces.length);
  const buckets = new Uint32Array(2 ** Math.ceil(Math.log2(2 * pieces.length)));
  let end = 0;
  for (const [id, piece] of pieces.entries()) {
    if (piece !== undefined) {
      bytes.set(piece, end);
      end += piece.length;
      let bucket = firstBucket(piece.toString('latin1'), buckets.length);
      while (buckets[bucket] !== 0) bucket = (bucket + 1) % buckets.length;
      buckets[bucket] = id + 1;
    }
    ends[id] = end;
  }
  return { bytes, ends, buckets, words };
}

export function toPieceTable({ bytes: packed, ends, buckets, words }: PackedPieces): PieceTable {
  const bytes = Buffer.from(packed.buffer);

  function pieceOf(id: number): string | undefined {
    const start = id === 0 ? 0 : ends[id - 1];
    const end = ends[id];
    return start === end || end === undefined ? undefined : bytes.toString('latin1', start, end);
  }

  return {
    words: new RegExp(words, 'gu'),
    pieceOf,
    idOf(piece) {
      let bucket = firstBucket(piece, buckets.length);
      for (;;) {
        const id = (buckets[bucket] ?? 0) - 1;
        if (id === -1) return undefined;
        if (pieceOf(id) === piece) return id;
        bucket = (bucket + 1) % buckets.length;
      }
    },
  };
}

function firstBucket(piece: string, buckets: number): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < piece.length; index += 1) {
    hash = Math.imul(hash ^ piece.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % buckets;
}
