/** `npm test` and `npm run test:full`: runs the test files with the runtime of this install; `full` adds those that need more than npm. */

import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { installClients } from '../test/matrix/install.ts';

const everywhere = ['{src,tools,bench}/**/*.test.ts', 'test/{support,conformance,e2e,chaos}/**/*.test.ts'];
const full = ['test/full/**/*.test.ts'];

const [mode = 'unit', ...more] = process.argv.slice(2);
const patterns = more.length > 0 ? more : mode === 'full' ? full : everywhere;

// Outside the tests, as their time is limited.
if (mode === 'full' && (more.length === 0 || more.some((file) => file.includes('clients')))) await installClients();

const child = spawn(
  process.execPath,
  [
    '--disable-warning=ExperimentalWarning',
    '--max-semi-space-size=64',
    '--test',
    '--test-reporter=spec',
    '--test-timeout=120000',
    `--test-concurrency=${availableParallelism()}`,
    ...patterns,
  ],
  // Most files load the whole gateway: what was compiled for one serves the others.
  { stdio: 'inherit', env: { NODE_COMPILE_CACHE: 'node_modules/.cache/postern', ...process.env } },
);
child.on('close', (code) => {
  process.exitCode = code ?? 1;
});
