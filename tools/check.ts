/** `npm run check`: everything that can be said about the code without running it. Each tool's words show only where it fails. */

import { spawn } from 'node:child_process';

const steps: readonly (readonly [what: string, command: string, ...args: string[]])[] = [
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
  ['docs in step with code', 'node', '--disable-warning=ExperimentalWarning', 'tools/docs.ts'],
];

let failed = 0;
for (const [what, command, ...args] of steps) {
  const startedMs = performance.now();
  const { code, output } = await run(command, args);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(`${code === 0 ? 'ok  ' : 'FAIL'}  ${what} (${seconds} s)`);
  if (code !== 0) {
    failed += 1;
    console.log(output);
  }
}
process.exitCode = failed === 0 ? 0 : 1;

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
