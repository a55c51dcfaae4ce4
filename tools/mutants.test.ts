import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { isWithin, lengthOf, readCoverage } from './coverage.ts';
import { mutantsOf } from './mutants.ts';

const source = `import { x } from './x.ts';
interface A { readonly b: 1 }
export function f(n: number): boolean {
  if (n <= 1) return true;
  x.count -= n;
  x.tell(n);
  return n > 2 && x.count === 0;
}
`;

test('makes mutants of each decision and effect, none twice, and none of types', () => {
  const found = mutantsOf('f.ts', source).map(({ line, was, text }) => `${line}: ${was} -> ${text}`);
  assert.deepEqual(found, [
    '4: n <= 1 -> true',
    '4: n <= 1 -> false',
    '4: <= -> <',
    '4: 1 -> 0',
    '4: true -> false',
    '5: x.count -= n -> void 0',
    '5: -= -> +=',
    '6: x.tell(n) -> void 0',
    '7: && -> ||',
    '7: > -> >=',
    '7: === -> !==',
    '7: 0 -> 1',
  ]);
});

test('importers of a mutant get the changed text, and the file stays unchanged', () => {
  const mutant = { file: 'src/version.ts', start: 0, end: 0, text: 'globalThis.seen = 1;\n' };
  const run = (env: Record<string, string>): string =>
    execFileSync(
      process.execPath,
      [
        '--import',
        './tools/mutant-hook.ts',
        '-e',
        "import('./src/version.ts').then(() => console.log(globalThis.seen))",
      ],
      { encoding: 'utf8', env: { ...process.env, ...env } },
    ).trim();
  assert.equal(run({ POSTERN_MUTANT: JSON.stringify(mutant) }), '1');
  assert.equal(run({}), 'undefined');
});

test('code is covered if the smallest coverage range around it was run in any of several processes', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'postern-test-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const write = (name: string, ranges: readonly (readonly [from: number, to: number, count: number])[]): void => {
    const functions = ranges.map(([startOffset, endOffset, count]) => ({
      ranges: [{ startOffset, endOffset, count }],
    }));
    const urls = ['src/a.ts', 'src/a.test.ts', 'tools/b.ts'].map((file) => pathToFileURL(resolve(file)).href);
    const result = [...urls, 'node:fs'].map((url) => ({ url, functions }));
    writeFileSync(join(directory, name), JSON.stringify({ result }));
  };
  write('1.json', [
    [0, 100, 1],
    [20, 40, 0],
    [30, 35, 2],
  ]);
  write('2.json', [
    [0, 100, 1],
    [20, 100, 0],
    [38, 40, 1],
  ]);
  const read = readCoverage(directory);
  assert.deepEqual([...read], [['src/a.ts', [0, 20, 30, 35, 38, 100]]]);
  const spans = read.get('src/a.ts') ?? [];
  const within = [0, 19, 20, 29, 30, 34, 35, 37, 38, 99, 100].map((offset) => isWithin(spans, offset));
  assert.deepEqual(within, [true, true, false, false, true, true, false, false, true, true, false]);
  assert.equal(lengthOf(spans), 87);
});
