/** `npm test` and `npm run test:full`: runs the test files with the runtime of this install; `full` adds those that need more than npm. */

import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { installClients } from '../test/matrix/install.ts';
import { buildConsole, isStale } from './build-console.ts';

const everywhere = ['{src,tools,bench,console/src}/**/*.test.ts', 'test/{support,conformance,chaos}/**/*.test.ts'];
const full = ['test/{e2e,full,browser}/**/*.test.ts'];

const [mode = 'unit', ...more] = process.argv.slice(2);
const cores = availableParallelism();

// What takes long and is needed by all is done outside the tests, as their time is limited.
if (mode === 'full' && (more.length === 0 || more.some((file) => file.includes('clients')))) await installClients();
if (mode === 'full' && (more.length === 0 || more.some((file) => file.includes('browser')))) await buildIfStale();

const patterns = mode === 'full' ? full : everywhere;
process.exitCode = await run(more.length > 0 ? more : patterns, cores);

async function buildIfStale(): Promise<void> {
  if (isStale()) await buildConsole();
}

function run(patterns: readonly string[], concurrency: number): Promise<number> {
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--max-semi-space-size=64',
      '--test',
      '--test-reporter=spec',
      '--test-timeout=180000',
      `--test-concurrency=${concurrency}`,
      ...patterns,
    ],
    // Most files load the whole gateway: what was compiled for one serves the others.
    { stdio: 'inherit', env: { NODE_COMPILE_CACHE: 'node_modules/.cache/postern', ...process.env } },
  );
  return new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)));
}
