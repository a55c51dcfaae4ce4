/**
 * Runs tests with one place of the source changed, and reports which fails. What each test file covers is recorded once and kept in a cache, so
 * that only those run that reach the change. Tests that fail without the change do not count.
 */

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { isWithin, lengthOf, readCoverage, type Spans } from './coverage.ts';
import type { Candidate } from './mutants.ts';

/** The file of the first test that failed; undefined if none did, or the process hung or ended before it reported one. */
type Ended = { readonly kind: 'passed' | 'overtime' | 'crashed' } | { readonly kind: 'failed'; readonly file: string };

/** One test file without a change. */
interface Recorded {
  /** Hash of the test file's text. */
  readonly hash: string;
  readonly tookMs: number;
  readonly sources: Readonly<Record<string, { readonly hash: string; readonly spans: Spans }>>;
}

/** A changed source may run endlessly: tests that take longer than this multiple of their usual time have noticed the change. */
const patience = { timesAsLong: 5, atLeastMs: 20_000, ofOneTestMs: 180_000, ofSoundTestsMs: 600_000 };
/** Number of test files that run in one process, as starting a process takes longer than most files. */
const together = 10;
/** Tests that may reach a change, besides those of its module. */
const tests = ['test/conformance/*.test.ts', 'test/full/redis-*.test.ts'];
const cache = 'node_modules/.cache/postern-mutants';
const hook = new URL('mutant-hook.ts', import.meta.url).href;
const reporter = new URL('failed-files.ts', import.meta.url).href;
const recorded = new Map<string, Recorded>();

/**
 * Before the first change is judged: runs each test file of the sources' modules, and of the whole gateway, once by itself, unless it and these
 * sources are as they were at the last time.
 */
export async function recordTests(sources: readonly string[], atOnce: number): Promise<void> {
  const now = new Map([...new Set(sources)].map((file) => [file, hashOf(file)]));
  const near = [...new Set(sources.map(moduleOf))].map((module) => `${module}/**/*.test.ts`);
  const waiting: string[] = [];
  for (const file of globSync([...near, ...tests]).sort()) {
    const path = cachedAt(file);
    const known = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Recorded) : undefined;
    const isSame =
      known?.hash === hashOf(file) &&
      now.entries().every(([source, hash]) => (known.sources[source]?.hash ?? hash) === hash);
    if (known !== undefined && isSame) recorded.set(file, known);
    else waiting.push(file);
  }
  if (waiting.length > 0) console.log(`recording what ${waiting.length} test files cover`);
  mkdirSync(cache, { recursive: true });
  async function recordAll(): Promise<void> {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const one = await record(file);
      if (one === undefined) continue;
      recorded.set(file, one);
      writeFileSync(cachedAt(file), JSON.stringify(one));
    }
  }
  await Promise.all(Array.from({ length: atOnce }, recordAll));
}

/** The tests that reach the change: first those of its folder, then of its module, then all others; each group by how much of the file it covers. */
export function testsReaching({ file, from }: Candidate): string[] {
  const distanceOf = (test: string): number =>
    dirname(test) === dirname(file) ? 0 : moduleOf(test) === moduleOf(file) ? 1 : 2;
  return recorded
    .entries()
    .map(([test, { tookMs, sources }]) => ({ test, tookMs, spans: sources[file]?.spans ?? [] }))
    .filter(({ spans }) => isWithin(spans, from))
    .map(({ test, tookMs, spans }) => ({ test, tookMs, distance: distanceOf(test), covered: lengthOf(spans) }))
    .toArray()
    .sort((a, b) => a.distance - b.distance || b.covered - a.covered || a.tookMs - b.tookMs)
    .map(({ test }) => test);
}

/** The test file that fails with the change, fails with it again by itself, and passes without it. */
export async function noticedBy(mutant: Candidate, files: readonly string[]): Promise<string | undefined> {
  const changed = { POSTERN_MUTANT: JSON.stringify(mutant) };
  let left = files;
  while (left.length > 0) {
    const some = left.slice(0, together);
    const ended = await run(some, patienceFor(some), changed);
    // A test file that hangs or ends the process is not named, so that all are suspected.
    const accused = ended.kind === 'passed' ? [] : ended.kind === 'failed' ? [ended.file] : some;
    for (const file of accused) {
      const again = await run([file], patienceFor([file]), changed);
      if (again.kind !== 'passed' && (await run([file], patienceFor([file]))).kind === 'passed') return file;
    }
    const done = ended.kind === 'failed' ? accused : some;
    left = left.filter((file) => !done.includes(file));
  }
  return undefined;
}

function patienceFor(files: readonly string[]): number {
  const tookMs = files.reduce((sum, file) => sum + (recorded.get(file)?.tookMs ?? 0), 0);
  return Math.ceil(Math.max(patience.atLeastMs, patience.timesAsLong * tookMs));
}

/** Records a test file. A busy machine fails a test now and then: only a file that fails three times by itself is left out. */
async function record(file: string): Promise<Recorded | undefined> {
  for (let left = 3; left > 0; left -= 1) {
    const directory = mkdtempSync(join(tmpdir(), 'postern-coverage-'));
    const startedMs = performance.now();
    try {
      // Code from the compile cache would only be counted as a whole.
      const env = { NODE_V8_COVERAGE: directory, NODE_DISABLE_COMPILE_CACHE: '1' };
      const ended = await run([file], patience.ofSoundTestsMs, env);
      if (ended.kind === 'passed') {
        const tookMs = Math.round(performance.now() - startedMs);
        const sources = readCoverage(directory)
          .entries()
          .map(([source, spans]) => [source, { hash: hashOf(source), spans }]);
        return { hash: hashOf(file), tookMs, sources: Object.fromEntries(sources) };
      }
      console.log(`${ended.kind} by itself: ${file}`);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  return undefined;
}

function moduleOf(file: string): string {
  return file.split('/').slice(0, 2).join('/');
}

function hashOf(file: string): string {
  return createHash('sha1').update(readFileSync(file)).digest('base64');
}

function cachedAt(test: string): string {
  return `${cache}/${test.replaceAll('/', '+')}.json`;
}

/** Runs test files until the first test fails. */
function run(files: readonly string[], timeoutMs: number, env: Record<string, string> = {}): Promise<Ended> {
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
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
        // Processes that a test starts get the change too.
        NODE_OPTIONS: `--import=${hook}`,
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
