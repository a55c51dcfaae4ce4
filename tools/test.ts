/**
 * `npm test` and `npm run test:full`: runs the test files with the installed runtime; `full` includes those that need more than npm. Files or
 * patterns after the mode restrict the run.
 */

import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { installClients, installForeign } from '../test/matrix/install.ts';
import { buildConsole } from './build-console.ts';

const unit = ['{src,tools,bench,console/src}/**/*.test.ts', 'test/{support,conformance,chaos}/**/*.test.ts'];
const full = ['test/{e2e,full,browser}/**/*.test.ts'];
/** They measure their process, or collect all of its memory, which takes long if it is large. */
const apart = [
  'src/http/upload-reading.test.ts',
  'src/lib/json/json-text.test.ts',
  'src/lib/multipart/reader.test.ts',
  'src/lib/token-ids.test.ts',
  'test/conformance/uploads.test.ts',
];
/** Takes longer than a part of all others: it has one of its own, and that begins first. */
const longest = ['test/conformance/families.test.ts'];
/** To start a process for each file would take longer than most files do; with so many for each lane no lane waits long for the last one. */
const partsPerLane = 2;

const [mode = 'unit', ...more] = process.argv.slice(2);
/** Tests wait for clocks, children and threads a third of their time: two more than there are cores. */
const lanes = availableParallelism() + 2;

// What takes long and is needed by all is done outside the tests, as their time is limited.
if (mode === 'full' && (more.length === 0 || more.some((file) => file.includes('clients')))) await installClients();
if (mode === 'full' && (more.length === 0 || more.some((file) => file.includes('foreign')))) await installForeign();
if (mode === 'full' && (more.length === 0 || more.some((file) => file.includes('browser')))) await buildConsole();

if (mode === 'unit' && more.length === 0) process.exitCode = await runUnits();
else process.exitCode = (await run(more.length > 0 ? more : full, availableParallelism() + 1)).code;

interface Ended {
  readonly code: number;
  readonly output: string;
}

/** Many files in one process, a few processes at a time; the output of each is printed when it ends. */
async function runUnits(): Promise<number> {
  const files = globSync(unit).sort();
  const shared = files.filter((file) => ![...apart, ...longest].includes(file));
  const count = lanes * partsPerLane;
  const waiting = Array.from({ length: count }, (_, part) => shared.filter((_, index) => index % count === part));
  for (const some of [apart, longest]) waiting.unshift(files.filter((file) => some.includes(file)));
  const ended: Ended[] = [];
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
        const one = await run(part, 'one process');
        process.stdout.write(one.output);
        ended.push(one);
      }
    }),
  );
  const sumOf = (what: string): number =>
    ended.reduce((sum, { output }) => sum + Number(new RegExp(`^ℹ ${what} (\\d+)$`, 'm').exec(output)?.[1] ?? 0), 0);
  console.log(
    `\nin all ${files.length} files: ${sumOf('pass')} passed, ${sumOf('fail')} failed, ${sumOf('skipped')} skipped`,
  );
  return ended.some(({ code }) => code !== 0) ? 1 : 0;
}

/** With a number, each file has a process of its own, this many at a time, and the output is shown at once. */
function run(files: readonly string[], concurrency: number | 'one process'): Promise<Ended> {
  const isOne = concurrency === 'one process';
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--max-semi-space-size=32',
      '--test',
      '--test-reporter=spec',
      '--test-timeout=180000',
      // A file whose tests have failed may leave a process behind, and would wait for it for ever.
      ...(isOne ? ['--test-isolation=none'] : ['--test-force-exit', `--test-concurrency=${concurrency}`]),
      ...files,
    ],
    {
      stdio: ['inherit', isOne ? 'pipe' : 'inherit', 'inherit'],
      // Most files load the whole gateway: what was compiled for one serves the others.
      env: { NODE_COMPILE_CACHE: 'node_modules/.cache/postern', ...process.env },
    },
  );
  let output = '';
  child.stdout?.on('data', (text: Buffer) => (output += text.toString()));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code: code ?? 1, output })));
}
