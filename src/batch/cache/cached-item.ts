/** A cached result of one item: a copy of the upstream's bytes that keeps no larger buffer alive. */

import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import { isMapping } from '../../lib/is-mapping.ts';
import type { Envelope, Result } from '../codecs/codec.ts';
import type { Found } from '../found.ts';

/** Estimated overhead beside its bytes. */
const besideBytes = 400;

export function bytesOf({ result, envelope }: Found): number {
  return result.bytes.length + envelope.head.length + envelope.tail.length + besideBytes;
}

/** With copies, as the originals may be slices of long buffers. */
export function cachedOf(found: Found, envelope: Envelope): Found {
  return { ...found, result: { ...found.result, bytes: Buffer.from(found.result.bytes) }, envelope };
}

export function cachedEnvelope(envelope: Envelope): Envelope {
  return { ...envelope, head: Buffer.from(envelope.head), tail: Buffer.from(envelope.tail) };
}

const lengthBytes = 4;
const sumLength = 32;

/** For other processes: a checksum over the key and all else, a description, and the bytes. */
export function toStored(key: string, { result, envelope, counts, isShare, origin }: Found): Buffer {
  const { bytes, ...said } = result;
  const { head, tail, ...around } = envelope;
  const description = Buffer.from(
    JSON.stringify({ result: said, around, counts: [...counts], isShare, origin, lengths: [head.length, tail.length] }),
  );
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32BE(description.length);
  const content = Buffer.concat([length, description, head, tail, bytes]);
  return Buffer.concat([sumOf(key, content), content]);
}

/** Undefined where the bytes are truncated, changed, or of another key. */
export function fromStored(key: string, stored: Buffer): Found | undefined {
  if (stored.length < sumLength + lengthBytes) return undefined;
  const content = stored.subarray(sumLength);
  if (!sumOf(key, content).equals(stored.subarray(0, sumLength))) return undefined;
  const from = lengthBytes + content.readUInt32BE();
  const read: unknown = JSON.parse(content.toString('utf8', lengthBytes, from));
  return isMapping(read) ? toFound(read as unknown as Stored, content.subarray(from)) : undefined;
}

interface Stored {
  readonly result: Omit<Result, 'bytes'>;
  readonly around: Omit<Envelope, 'head' | 'tail'>;
  readonly counts: readonly (readonly [string, string])[];
  /** Absent in entries of older versions. */
  readonly isShare?: boolean;
  readonly origin: Found['origin'];
  readonly lengths: readonly [number, number];
}

function toFound(
  { result, around, counts, isShare = true, origin, lengths: [head, tail] }: Stored,
  bytes: Buffer,
): Found {
  return {
    result: { ...result, index: result.index, bytes: bytes.subarray(head + tail) },
    envelope: { ...around, head: bytes.subarray(0, head), tail: bytes.subarray(head, head + tail) },
    counts: new Map(counts),
    isShare,
    origin,
  };
}

function sumOf(key: string, content: Buffer): Buffer {
  return Buffer.from(hash('sha256', Buffer.concat([Buffer.from(key), content]), 'hex'), 'hex');
}
