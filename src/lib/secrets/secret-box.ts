/** Decrypts NaCl secretboxes (XSalsa20-Poly1305): 24 bytes nonce, 16 bytes tag, ciphertext. */

import { Buffer } from 'node:buffer';
import { timingSafeEqual } from 'node:crypto';

const nonceBytes = 24;
const proofBytes = 16;
const blockBytes = 64;
/** The cipher's constants: the text "expand 32-byte k". */
const constants = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;
const rounds = 10;

/** Decrypts a box; undefined for another key, or a damaged box. `key` has 32 bytes. */
export function openSecretBox(box: Uint8Array, key: Uint8Array): Buffer | undefined {
  if (box.length < nonceBytes + proofBytes) return undefined;
  const proof = box.subarray(nonceBytes, nonceBytes + proofBytes);
  const closed = box.subarray(nonceBytes + proofBytes);
  const nonce = wordsOf(box.subarray(0, nonceBytes));
  const stream = keyStream(subkey(wordsOf(key), nonce), nonce.slice(4), 32 + closed.length);
  if (!timingSafeEqual(proof, poly1305(closed, stream.subarray(0, 32)))) return undefined;
  return Buffer.from(closed.map((byte, at) => byte ^ (stream[32 + at] ?? 0)));
}

function wordsOf(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: bytes.length / 4 }, (_, at) => view.getUint32(at * 4, true));
}

type Key = readonly number[];

function state(key: Key, [a = 0, b = 0, c = 0, d = 0]: readonly number[]): Uint32Array {
  const [one, two, three, four] = constants;
  return Uint32Array.of(one, ...key.slice(0, 4), two, a, b, c, d, three, ...key.slice(4, 8), four);
}

/** Derives the cipher's key by HSalsa20 over the first four words of the nonce. */
function subkey(key: Key, nonce: readonly number[]): Key {
  const mixed = mix(state(key, nonce));
  return [0, 5, 10, 15, 6, 7, 8, 9].map((at) => mixed[at] ?? 0);
}

function keyStream(key: Key, [a = 0, b = 0]: readonly number[], length: number): Buffer {
  const stream = Buffer.alloc(Math.ceil(length / blockBytes) * blockBytes);
  for (let block = 0; block * blockBytes < length; block += 1) {
    const before = state(key, [a, b, block, 0]);
    mix(before).forEach((word, at) => {
      stream.writeUInt32LE((word + (before[at] ?? 0)) >>> 0, block * blockBytes + at * 4);
    });
  }
  return stream;
}

/** The cipher's quarter rounds for the columns, then for the rows: the changed word, its two inputs, and the rotation. */
const columns = [
  [0, 4, 8, 12],
  [5, 9, 13, 1],
  [10, 14, 2, 6],
  [15, 3, 7, 11],
] as const;
const rows = [
  [0, 1, 2, 3],
  [5, 6, 7, 4],
  [10, 11, 8, 9],
  [15, 12, 13, 14],
] as const;

function mix(from: Uint32Array): Uint32Array {
  const words = Uint32Array.from(from);
  const turn = (to: number, one: number, other: number, by: number): void => {
    const sum = ((words[one] ?? 0) + (words[other] ?? 0)) >>> 0;
    words[to] = (words[to] ?? 0) ^ ((sum << by) | (sum >>> (32 - by)));
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const [a, b, c, d] of [...columns, ...rows]) {
      turn(b, a, d, 7);
      turn(c, b, a, 9);
      turn(d, c, b, 13);
      turn(a, d, c, 18);
    }
  }
  return words;
}

const prime = (1n << 130n) - 5n;
const clamp = 0x0ffffffc0ffffffc0ffffffc0fffffffn;

function poly1305(bytes: Uint8Array, key: Uint8Array): Buffer {
  const factor = toNumber(key.subarray(0, 16)) & clamp;
  let sum = 0n;
  for (let at = 0; at < bytes.length; at += 16) {
    const part = bytes.subarray(at, at + 16);
    sum = ((sum + toNumber(part) + (1n << BigInt(part.length * 8))) * factor) % prime;
  }
  const proof = Buffer.alloc(proofBytes);
  let rest = sum + toNumber(key.subarray(16, 32));
  for (let at = 0; at < proofBytes; at += 1) {
    proof[at] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  return proof;
}

function toNumber(littleEndian: Uint8Array): bigint {
  return littleEndian.reduceRight((number, byte) => (number << 8n) | BigInt(byte), 0n);
}
