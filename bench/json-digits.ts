/**
 * Measures the cost of keeping every digit of a JSON response, with this project's parser and with `JSON.rawJSON`: `node bench/json-digits.ts`,
 * some seconds.
 */

import { parseJson, writeJson } from '../src/lib/json/json-text.ts';
import { median } from './measurement.ts';

const msPerFigure = 1_000;

/** TypeScript does not know them yet. */
interface ExactJson {
  rawJSON(text: string): unknown;
  parse(
    text: string,
    reviver: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
}

const exact: ExactJson = Object.assign(Object.create(null), {
  rawJSON: Reflect.get(JSON, 'rawJSON'),
  parse: JSON.parse,
});

const parseRaw = (bytes: Buffer): unknown =>
  exact.parse(bytes.toString(), (_name, value, { source = '' }) =>
    typeof value === 'number' ? exact.rawJSON(source) : value,
  );

const float = (index: number): string => (Math.sin(index) / 10).toFixed(17);
const vector = (from: number): string => `[${Array.from({ length: 1_536 }, (_, i) => float(from + i)).join(',')}]`;
const words = 'hello world '.repeat(60);

const texts: readonly [title: string, text: string][] = [
  [
    '100 vectors of 1,536 floats',
    `{"data":[${Array.from({ length: 100 }, (_, i) => `{"index":${i},"embedding":${vector(i)}}`).join(',')}]}`,
  ],
  [
    '1,000 results of a rerank',
    `{"results":[${Array.from({ length: 1_000 }, (_, i) => `{"index":${i},"relevance_score":${float(i)},"document":{"text":"document number ${i} of the list"}}`).join(',')}]}`,
  ],
  [
    'one answer of a chat',
    `{"id":"c","created":1700000000,"choices":[{"index":0,"message":{"content":"${words}"}}],"usage":{"total_tokens":129}}`,
  ],
];

function usPerCall(run: () => unknown): string {
  const times: number[] = [];
  for (const end = performance.now() + msPerFigure; performance.now() < end; ) {
    const start = performance.now();
    run();
    times.push(performance.now() - start);
  }
  return ((median(times) ?? 0) * 1_000).toFixed(1);
}

for (const [title, text] of texts) {
  const bytes = Buffer.from(text);
  const ours = parseJson(bytes);
  const raw = parseRaw(bytes);
  console.log(`${title}, ${bytes.length} bytes, microseconds:`);
  console.log(
    `  read: ours ${usPerCall(() => parseJson(bytes))}, rawJSON ${usPerCall(() => parseRaw(bytes))}, digits lost ${usPerCall(() => JSON.parse(bytes.toString()))}`,
  );
  console.log(
    `  write: ours ${usPerCall(() => writeJson(ours))}, rawJSON ${usPerCall(() => Buffer.from(JSON.stringify(raw)))}`,
  );
}
