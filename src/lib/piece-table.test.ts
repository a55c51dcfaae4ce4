import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import cl100k from 'js-tiktoken/ranks/cl100k_base';
import o200k from 'js-tiktoken/ranks/o200k_base';
import p50k from 'js-tiktoken/ranks/p50k_base';
import r50k from 'js-tiktoken/ranks/r50k_base';
import { packPieces, toPieceTable } from './piece-table.ts';

const base64 = (...pieces: readonly string[]): string => pieces.map((piece) => btoa(piece)).join(' ');

test('maps vocabulary pieces to IDs and back, and unused IDs and unknown pieces to undefined', () => {
  const table = toPieceTable(
    packPieces({
      bpe_ranks: `! 0 ${base64('a', 'b', 'ab')}\n! 5 ${base64('\xff', '\0')}`,
      special_tokens: { '<|end|>': 9 },
      pat_str: '\\S+',
    }),
  );
  const pieces = ['a', 'b', 'ab', undefined, undefined, '\xff', '\0', undefined, undefined, '<|end|>', undefined];
  for (const [id, piece] of pieces.entries()) {
    assert.equal(table.pieceOf(id), piece, String(id));
    if (piece !== undefined) assert.equal(table.idOf(piece), id, piece);
  }
  for (const id of [-1, 0.5, 2 ** 32, Number.NaN]) assert.equal(table.pieceOf(id), undefined, String(id));
  for (const piece of ['', 'c', 'ba', '<|', 'a'.repeat(300)]) assert.equal(table.idOf(piece), undefined, piece);
  assert.deepEqual('one two'.match(table.words), ['one', 'two']);
});

test('the packed vocabularies equal those of js-tiktoken (tools/vocabularies.ts writes them)', () => {
  for (const [name, vocabulary] of Object.entries({ cl100k, o200k, p50k, r50k })) {
    const packed = readFileSync(new URL(`./vocabularies/${name}_base.json.br`, import.meta.url));
    assert.ok(brotliDecompressSync(packed).toString() === JSON.stringify(vocabulary), name);
  }
});

test('finds the ID of every piece of a whole token vocabulary', () => {
  const packed = packPieces(r50k);
  const table = toPieceTable(packed);
  assert.equal(packed.ends.length, 50_257);
  for (const id of packed.ends.keys()) assert.equal(table.idOf(table.pieceOf(id) ?? ''), id);
});
