import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
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

test('changes each decision and effect once, and never types', () => {
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

test('importers get the changed text, and the file stays unchanged', () => {
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
