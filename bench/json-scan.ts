/** Measures scanning a request body compared with `JSON.parse`: `node bench/json-scan.ts`, a few seconds. */

import { compileWatchedKeys, scanJson } from '../src/lib/json/json-scan.ts';
import { median } from './measurement.ts';
import { payloads } from './payloads.ts';

const rounds = 61;
const bytesPerRound = 400_000;

const watched = compileWatchedKeys(['model', 'input', 'prompt', 'query', 'documents', 'messages', 'dimensions']);

function requestOf(name: string): Buffer {
  const payload = payloads.find((row) => row.name === name);
  if (payload === undefined) throw new TypeError(`no payload is called ${name}`);
  return payload.request;
}

const respelled = (name: string, spell: (value: unknown) => string): Buffer =>
  Buffer.from(spell(JSON.parse(requestOf(name).toString())));

/** As Python's `json.dumps` does by default: a space after commas, and ASCII only. */
const asPython = (value: unknown): string =>
  JSON.stringify(value)
    .replaceAll(',', ', ')
    .replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const chinese = '检索增强生成是一种将信息检索与文本生成相结合的技术。';
const nested = Array.from({ length: 200 }, (_, index) => JSON.stringify({ id: index, text: 'a "b"\n', tags: ['x'] }));

const bodies: readonly [title: string, body: Buffer][] = [
  ['1 short text', requestOf('embed-1')],
  ['1 text of 500 bytes', Buffer.from(JSON.stringify({ model: 'bench-model', input: 'some words '.repeat(46) }))],
  ['10 documents of 100 bytes', requestOf('rerank-10')],
  ['100 texts of 200 bytes', requestOf('embed-100')],
  ['2048 texts of 40 bytes', requestOf('embed-2048-in')],
  ['64 KB of token ids', requestOf('embed-tokens')],
  ['the same, a space after commas', respelled('embed-tokens', asPython)],
  ['100 documents of 1 KB', requestOf('rerank-100')],
  ['100 texts, pretty-printed', respelled('embed-100', (value) => JSON.stringify(value, null, 2))],
  ['100 texts in Chinese', Buffer.from(JSON.stringify({ input: Array(100).fill(chinese) }))],
  ['the same, escaped', Buffer.from(asPython({ input: Array(100).fill(chinese) }))],
  ['JSON in 200 strings', Buffer.from(JSON.stringify({ model: 'bench-model', input: nested }))],
  ['JSON in JSON in a string, 64 KB', requestOf('escapes')],
  ['3000 floats', Buffer.from(JSON.stringify({ input: Array.from({ length: 3000 }, (_, i) => Math.sin(i)) }))],
];

const subjects = {
  parse: (body: Buffer): unknown => JSON.parse(body.toString()),
  scan: (body: Buffer): unknown => scanJson(body, watched),
};

function nsPerCall(run: (body: Buffer) => unknown, body: Buffer): number {
  const calls = Math.max(2, Math.round(bytesPerRound / body.length));
  const start = process.hrtime.bigint();
  for (let i = 0; i < calls; i++) run(body);
  return Number(process.hrtime.bigint() - start) / calls;
}

for (const [title, body] of bodies) {
  const scan = scanJson(body, watched);
  if (!scan.ok) throw new TypeError(`${title} is refused: ${scan.fault} at ${scan.at}`);
}

// Everything is warmed up with everything: a gateway's scanner has seen other bodies before this one.
for (let round = 0; round < 5; round++) {
  for (const [, body] of bodies) for (const run of Object.values(subjects)) nsPerCall(run, body);
}

const columns = ['body', 'bytes', 'parse ns', 'scan ns', 'parse / scan', 'scan ns/byte'];
const widths = [34, 9, 12, 12, 14, 14];
const printRow = (cells: readonly string[]): void =>
  console.log(cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(''));

console.log(
  `JSON.parse(body.toString()) beside scanJson(body), node ${process.version}, medians of ${rounds} rounds\n`,
);
printRow(columns);
for (const [title, body] of bodies) {
  const samples = Array.from({ length: rounds }, () => ({
    parse: nsPerCall(subjects.parse, body),
    scan: nsPerCall(subjects.scan, body),
  }));
  const of = (pick: (sample: { parse: number; scan: number }) => number): number => median(samples.map(pick)) ?? 0;
  const scanNs = of((sample) => sample.scan);
  printRow([
    title,
    String(body.length),
    of((sample) => sample.parse).toFixed(0),
    scanNs.toFixed(0),
    of((sample) => sample.parse / sample.scan).toFixed(2),
    (scanNs / body.length).toFixed(2),
  ]);
}
