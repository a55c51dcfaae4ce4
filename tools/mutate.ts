/**
 * `npm run mutate`: which lines no test watches. Changes one place of the source at a time, in memory, and runs the tests near it, then
 * those of its room; what they do not notice is printed. `--count 300`, `--seed 1`, `--rooms admission,ledger`, `--only src/x.ts`, `--json F`.
 */

import { spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { type Candidate, mutantsOf } from './mutants.ts';

type Fate = 'noticed' | 'survived' | 'untested';

interface Judged extends Candidate {
  readonly fate: Fate;
}

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    rooms: { type: 'string', default: 'admission,ledger,pipeline,upstream' },
    only: { type: 'string' },
    json: { type: 'string' },
  },
});
/** A change may make a loop endless; tests that take longer than this much of what they take by themselves notice it. */
const patience = { timesAsLong: 5, atLeastMs: 20_000 };
const hook = new URL('mutant-hook.ts', import.meta.url).href;

const files =
  values.only === undefined ? values.rooms.split(',').flatMap((room) => sourcesIn(`src/${room}`)) : [values.only];
const candidates = files.flatMap((file) => mutantsOf(file, readFileSync(file, 'utf8')));
const chosen = shuffle(candidates, Number(values.seed)).slice(0, Number(values.count));
console.log(`${chosen.length} of ${candidates.length} possible changes in ${files.length} files`);

/** How long tests take where nothing is changed; undefined for those that fail by themselves, which notice nothing. */
const sound = new Map<string, Promise<number | undefined>>();
const judged: Judged[] = [];
const waiting = [...chosen];
await Promise.all(Array.from({ length: availableParallelism() }, judgeAll));

judged.sort((a, b) => (a.file === b.file ? a.start - b.start : a.file < b.file ? -1 : 1));
for (const { fate, file, line, was, text } of judged) {
  if (fate !== 'noticed') console.log(`${fate}  ${file}:${line}  ${was}  ->  ${text}`);
}
const noticed = judged.filter(({ fate }) => fate === 'noticed').length;
console.log(`\n${noticed} of ${judged.length} noticed (${Math.round((100 * noticed) / judged.length)} %)`);
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(judged, null, 1));

async function judgeAll(): Promise<void> {
  for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
    judged.push({ ...one, fate: await judge(one) });
    if (judged.length % 10 === 0) console.log(`${judged.length} of ${chosen.length}`);
  }
}

async function judge(mutant: Candidate): Promise<Fate> {
  const near = testsNear(mutant.file);
  const room = globSync(`${dirname(mutant.file)}/**/*.test.ts`).filter((test) => !near.includes(test));
  let isTested = false;
  for (const tests of [near, room]) {
    const tookMs = tests.length === 0 ? undefined : await timeOf(tests);
    if (tookMs === undefined) continue;
    isTested = true;
    const timeoutMs = Math.ceil(Math.max(patience.atLeastMs, patience.timesAsLong * tookMs));
    if (!(await pass(tests, timeoutMs, mutant))) return 'noticed';
  }
  return isTested ? 'survived' : 'untested';
}

/** The test beside the file, and those of its folder that import it. */
function testsNear(file: string): string[] {
  const beside = file.replace(/\.ts$/, '.test.ts');
  const name = `/${basename(file)}'`;
  return globSync(`${dirname(file)}/*.test.ts`)
    .filter((test) => test === beside || readFileSync(test, 'utf8').includes(name))
    .sort();
}

function timeOf(tests: readonly string[]): Promise<number | undefined> {
  const id = tests.join();
  const known = sound.get(id) ?? measure(tests);
  sound.set(id, known);
  return known;
}

async function measure(tests: readonly string[]): Promise<number | undefined> {
  const startedMs = performance.now();
  return (await pass(tests, 300_000)) ? performance.now() - startedMs : undefined;
}

function pass(tests: readonly string[], timeoutMs: number, mutant?: Candidate): Promise<boolean> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--import', hook, '--test', '--test-isolation=none', ...tests],
    {
      stdio: 'ignore',
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      env: {
        NODE_COMPILE_CACHE: 'node_modules/.cache/postern',
        ...process.env,
        ...(mutant !== undefined && { POSTERN_MUTANT: JSON.stringify(mutant) }),
      },
    },
  );
  return new Promise((resolve) => child.on('close', (code) => resolve(code === 0)));
}

function sourcesIn(folder: string): string[] {
  if (!existsSync(folder)) throw new Error(`there is no ${folder}`);
  return globSync(`${folder}/**/*.ts`)
    .filter((file) => !file.endsWith('.test.ts'))
    .sort();
}

/** The same order for the same seed. */
function shuffle<T>(items: readonly T[], seed: number): T[] {
  let state = seed >>> 0;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return items
    .map((item) => ({ item, rank: next() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
