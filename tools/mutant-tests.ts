/** Runs tests with one place of the source changed, and reports whether they fail. Tests that fail without the change do not count. */

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Coverage } from './coverage.ts';
import type { Candidate } from './mutants.ts';

/** The file of the first test that failed; undefined if none did, or the process hung or ended before it reported one. */
type Ended = { readonly kind: 'passed' | 'overtime' | 'crashed' } | { readonly kind: 'failed'; readonly file: string };

/** A change may make a loop endless; tests that take longer than this much of what they take by themselves notice it. */
const patience = { timesAsLong: 5, atLeastMs: 20_000, ofOneTestMs: 60_000, ofSoundTestsMs: 600_000 };
const hook = new URL('mutant-hook.ts', import.meta.url).href;
const reporter = new URL('failed-files.ts', import.meta.url).href;

/** The results of tests without a change. */
interface Sound {
  readonly tookMs: number;
  readonly coverage: Coverage;
}

/** Undefined for those that fail by themselves. */
const sound = new Map<string, Promise<Sound | undefined>>();

/** Whether one of these test files fails with the change, fails with it again, and passes without it. */
export async function isNoticed(mutant: Candidate, files: readonly string[]): Promise<boolean> {
  const known = await soundOf(files);
  if (known === undefined || !known.coverage.reaches(mutant.file, mutant.from)) return false;
  const timeoutMs = Math.ceil(Math.max(patience.atLeastMs, patience.timesAsLong * known.tookMs));
  const changed = { POSTERN_MUTANT: JSON.stringify(mutant) };
  let left = files;
  while (left.length > 0) {
    const ended = await run(left, timeoutMs, changed);
    if (ended.kind === 'passed') return false;
    if (ended.kind !== 'failed') return true;
    const { file } = ended;
    const again = await run([file], timeoutMs, changed);
    if (again.kind !== 'passed' && (await run([file], timeoutMs)).kind === 'passed') return true;
    left = left.filter((other) => other !== file);
  }
  return false;
}

function soundOf(files: readonly string[]): Promise<Sound | undefined> {
  const id = files.join();
  const known = sound.get(id) ?? measure(files);
  sound.set(id, known);
  return known;
}

/** A busy machine fails a test now and then: only what fails three times by itself is no measure. */
async function measure(files: readonly string[]): Promise<Sound | undefined> {
  const directory = mkdtempSync(join(tmpdir(), 'postern-coverage-'));
  try {
    for (let left = 3; left > 0; left -= 1) {
      const startedMs = performance.now();
      // Code from the compile cache is counted as a whole only.
      const env = { NODE_V8_COVERAGE: directory, NODE_DISABLE_COMPILE_CACHE: '1' };
      const ended = await run(files, patience.ofSoundTestsMs, env);
      if (ended.kind === 'passed') {
        return { tookMs: performance.now() - startedMs, coverage: new Coverage(directory) };
      }
      console.log(`${ended.kind} by itself: ${ended.kind === 'failed' ? ended.file : files.join(' ')}`);
    }
    return undefined;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Ends at the first test that fails. */
function run(files: readonly string[], timeoutMs: number, env: Record<string, string> = {}): Promise<Ended> {
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      `--import=${hook}`,
      '--test',
      '--test-isolation=none',
      `--test-timeout=${patience.ofOneTestMs}`,
      `--test-reporter=${reporter}`,
      '--test-reporter-destination=stdout',
      ...files,
    ],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: {
        NODE_COMPILE_CACHE: 'node_modules/.cache/postern',
        ...process.env,
        ...env,
      },
    },
  );
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const timer = setTimeout(() => end({ kind: 'overtime' }), timeoutMs);
  let output = '';
  function end(ended: Ended): void {
    clearTimeout(timer);
    child.kill('SIGKILL');
    resolve(ended);
  }
  child.stdout.on('data', (text: Buffer) => {
    output += text.toString();
    const file = files.find((one) => output.split('\n').some((path) => path !== '' && relative('.', path) === one));
    if (file !== undefined) end({ kind: 'failed', file });
  });
  child.on('close', (code) => end({ kind: code === 0 ? 'passed' : 'crashed' }));
  return promise;
}
