/** `npm run check`: all static checks. A tool's output is shown only if it fails. */

import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

type Step = readonly [what: string, command: string, ...args: string[]];

/** The slowest steps come first, as they run side by side. */
const steps: readonly Step[] = [
  ['format and lint', 'biome', 'ci', '--error-on-warnings', '--colors=off', '.'],
  ['types', 'tsc', '-p', '.'],
  ['types of the console', 'tsc', '-p', 'console'],
  [
    'import direction',
    'depcruise',
    '--config',
    '.dependency-cruiser.cjs',
    'src',
    'console/src',
    'test',
    'bench',
    'tools',
  ],
  ['dead code', 'knip'],
  ['generated files in step', 'node', '--disable-warning=ExperimentalWarning', 'tools/generate.ts', '--check'],
  ['weight of the console', 'node', '--disable-warning=ExperimentalWarning', 'tools/console-size.ts'],
  ['nothing is written twice', 'node', 'tools/copies.ts'],
  [
    'bytes and promises of a plain request',
    'node',
    '--disable-warning=ExperimentalWarning',
    '--max-semi-space-size=32',
    'bench/path.ts',
    '--check',
  ],
  ['words of the field', 'node', '--disable-warning=ExperimentalWarning', 'tools/words.ts'],
  ['weight of dependencies', 'node', '--disable-warning=ExperimentalWarning', 'tools/weight.ts', '--check'],
  ['lines and files', 'node', '--disable-warning=ExperimentalWarning', 'tools/shape.ts', '--check'],
  ['subjects of new commits', 'node', 'tools/commits.ts'],
  ['waiting changesets', 'node', 'tools/release.ts', '--check'],
  ['runtime as written down', 'node', 'tools/runtime.ts'],
  ['docs in step with code', 'node', '--disable-warning=ExperimentalWarning', 'tools/docs.ts'],
];

let failed = 0;
const waiting = [...steps];
await Promise.all(Array.from({ length: availableParallelism() }, takeSteps));
process.exitCode = failed === 0 ? 0 : 1;

async function takeSteps(): Promise<void> {
  for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) await take(step);
}

async function take([what, command, ...args]: Step): Promise<void> {
  const startedMs = performance.now();
  const { code, output } = await run(command, args);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(`${code === 0 ? 'ok  ' : 'FAIL'}  ${what} (${seconds} s)`);
  if (code === 0) return;
  failed += 1;
  console.log(output);
}

function run(command: string, args: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (text: Buffer) => (output += text.toString()));
    child.stderr.on('data', (text: Buffer) => (output += text.toString()));
    child.on('error', (error) => resolve({ code: 1, output: error.message }));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
