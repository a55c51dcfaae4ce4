/**
 * `npm test` and `npm run test:full`: runs the test files with the installed runtime; `full` includes those that need more than npm. Files or
 * patterns after the mode restrict the run.
 */

import { spawn } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { reasonOf } from '../src/lib/thrown.ts';
import { installClients, installForeign } from '../test/matrix/install.ts';
import { buildConsole } from './build-console.ts';

const unit = ['{src,tools,bench,console/src}/**/*.test.ts', 'test/{support,conformance,chaos}/**/*.test.ts'];
const full = ['test/{e2e,full,browser}/**/*.test.ts'];
/** Files that run by themselves: they measure their process, or collect all of its memory, which takes long if it is large. */
const apart = [
  'src/http/upload-reading.test.ts',
  'src/lib/json/json-text.test.ts',
  'src/lib/multipart/reader.test.ts',
  'src/lib/token-ids.test.ts',
  'test/conformance/uploads.test.ts',
];
/** Takes as long as a part of all others: it is a part of its own, and begins first. */
const longest = 'test/conformance/families.test.ts';
/** Files of the smallest part: starting a part takes two seconds of CPU, as most parts load the whole gateway. */
const fewestFiles = 30;
/** Files of `full`, without the browser's, that take a minute or more: they begin first. */
const minutes = ['image', 'chaos-traffic', 'chaos-books', 'package', 'postgres-store', 'upgrade', 'compose'].map(
  (name) => `test/full/${name}.test.ts`,
);
/** Files for which something is downloaded for minutes, while other files run. */
const installedFirst = [
  { file: 'test/full/foreign.test.ts', named: 'foreign', install: () => installForeign() },
  { file: 'test/full/clients.test.ts', named: 'clients', install: installClients },
];
const timeoutMs = 180_000;
/** A file system in memory, used if it exists and has enough space. */
const memory = { directory: '/dev/shm', leastBytes: 2 * 1024 ** 3 };

interface Ended {
  readonly code: number;
  readonly output: string;
}

/** The test files of one process. */
type Part = readonly string[];

const [mode = 'unit', ...more] = process.argv.slice(2);
/** Processes at a time, more than there are cores: tests wait a third of their time. Browsers and databases stall with two more. */
const lanes = availableParallelism() + (mode === 'full' ? 1 : 2);
const ended: Ended[] = [];

// What many files need and takes long is done before the tests, as their time is limited.
if (mode === 'full') {
  const isNamed = (word: string): boolean => more.some((file) => file.includes(word));
  for (const { named, install } of installedFirst) if (isNamed(named)) await install();
  if (more.length === 0 || isNamed('browser')) await buildConsole();
}

if (more.length > 0) process.exitCode = (await run(more, availableParallelism() + 1)).code;
else process.exitCode = mode === 'full' ? await runFull() : await runUnits();

/** Runs many files in one process, and a few processes at a time. */
async function runUnits(): Promise<number> {
  const files = globSync(unit).sort();
  const waiting = partsOf(files.filter((file) => ![...apart, longest].includes(file)));
  waiting.unshift([longest], apart);
  const directory = makeTemporary();
  process.env.TMPDIR = directory;
  await Promise.all(Array.from({ length: lanes }, () => runAll([waiting], 'one process')));
  rmSync(directory, { recursive: true, force: true });
  return sumUp(files.length);
}

/** Divides files into parts: large ones first, as starting one takes time, and small ones last, so that all processes end together. */
function partsOf(files: readonly string[]): Part[] {
  const parts: Part[] = [];
  let left = files;
  while (left.length > 0) {
    const size = Math.max(fewestFiles, left.length / (lanes + 1));
    const every = Math.max(1, Math.floor(left.length / size));
    // Files of one folder take about the same time, so they are spread over the parts.
    parts.push(left.filter((_, index) => index % every === 0));
    left = left.filter((_, index) => index % every !== 0);
  }
  return parts;
}

/** Makes the folder for temporary files, in memory if possible: hundreds of stores are synced, which takes long on a disk and tests nothing more. */
function makeTemporary(): string {
  const { bavail, bsize } = existsSync(memory.directory) ? statfsSync(memory.directory) : { bavail: 0, bsize: 0 };
  const base = bavail * bsize >= memory.leastBytes ? memory.directory : tmpdir();
  return mkdtempSync(join(base, 'postern-tests-'));
}

/**
 * A process for each file, the output of which is printed when it ends. Browsers keep the processors busy, and the other tests mostly wait: every
 * second lane begins with browsers, so that both run side by side until the end.
 */
async function runFull(): Promise<number> {
  const files = globSync(full).sort();
  const first = [...minutes, ...installedFirst.map(({ file }) => file)];
  const rest = files.filter((file) => !first.includes(file));
  const isInBrowser = (file: string): boolean => file.startsWith('test/browser/');
  const inBrowser: Part[] = rest.filter(isInBrowser).map((file) => [file]);
  const others: Part[] = [...minutes, ...rest.filter((file) => !isInBrowser(file))].map((file) => [file]);
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      if (lane === 0) await runInstalled();
      await runAll(lane % 2 === 1 ? [inBrowser, others] : [others, inBrowser], 'one file');
    }),
  );
  return sumUp(files.length);
}

async function runInstalled(): Promise<void> {
  for (const { file, install } of installedFirst) {
    try {
      await install();
    } catch (error) {
      // The other files are run all the same.
      ended.push({ code: 1, output: `✖ failing tests:\n\n${file} cannot run: ${reasonOf(error)}\n` });
      continue;
    }
    await runAll([[[file]]], 'one file');
  }
}

/** Runs all parts, those of the first queue before those of the second. */
async function runAll(queues: readonly Part[][], how: 'one process' | 'one file'): Promise<void> {
  for (;;) {
    const part = queues.find((waiting) => waiting.length > 0)?.shift();
    if (part === undefined) return;
    const startedMs = performance.now();
    const one = await run(part, how);
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    process.stdout.write(how === 'one file' ? `\n== ${part.join()} (${seconds} s)\n${one.output}` : one.output);
    ended.push(one);
  }
}

/** Prints how many tests passed, and again those that failed: by then they are far above. */
function sumUp(files: number): number {
  const sumOf = (what: string): number =>
    ended.reduce((sum, { output }) => sum + Number(new RegExp(`^ℹ ${what} (\\d+)$`, 'm').exec(output)?.[1] ?? 0), 0);
  const failed = ended.filter(({ code }) => code !== 0);
  for (const { output } of failed) {
    for (const [error] of output.matchAll(/^ℹ Error: .*/gm)) console.log(error);
    const at = output.lastIndexOf('✖ failing tests:');
    if (at >= 0) console.log(output.slice(at));
  }
  console.log(
    `\nin all ${files} files: ${sumOf('pass')} passed, ${sumOf('fail') + sumOf('cancelled')} failed, ${sumOf('skipped')} skipped`,
  );
  return failed.length > 0 ? 1 : 0;
}

/** Runs a part. With a number, each file has a process of its own, this many at a time, and the output is shown at once. */
function run(files: Part, how: number | 'one process' | 'one file'): Promise<Ended> {
  const isShown = typeof how === 'number';
  // A file whose tests failed may leave a process behind, and would otherwise wait for it for ever.
  const alone = ['--test-reporter=spec', `--test-timeout=${timeoutMs}`, '--test-force-exit'];
  const modes = {
    'one process': ['tools/test-part.ts', `--timeout=${timeoutMs}`],
    // As `node --test` starts it.
    'one file': alone,
  };
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--max-semi-space-size=32',
      ...(isShown ? ['--test', ...alone, `--test-concurrency=${how}`] : modes[how]),
      ...files,
    ],
    {
      stdio: ['inherit', isShown ? 'inherit' : 'pipe', 'inherit'],
      // Most files load the whole gateway: code that was compiled for one serves the others.
      env: { NODE_COMPILE_CACHE: 'node_modules/.cache/postern', ...process.env },
    },
  );
  let output = '';
  child.stdout?.on('data', (text: Buffer) => (output += text.toString()));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code: code ?? 1, output })));
}
