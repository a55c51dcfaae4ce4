/**
 * `npm run mutate`: finds lines that no test checks. Changes one place of the source at a time, in memory, and runs the tests that reach it, the
 * nearest first; undetected changes are printed. `--count 300`, `--seed 1`, `--modules accounting,keys`, `--only src/x.ts`, `--most 20` (test
 * files for each change), `--at-once 4`, `--json F`; `--again F` runs only those that an earlier run did not detect.
 */

import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { noticedBy, recordTests, testsReaching } from './mutant-tests.ts';
import { type Candidate, mutantsOf } from './mutants.ts';

interface Judged extends Candidate {
  readonly fate: 'noticed' | 'survived' | 'untested';
  /** The test file that noticed the change. */
  readonly by?: string;
  /** Number of test files that reach the change and were left out by `--most`. */
  readonly left?: number;
}

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    modules: {
      type: 'string',
      default: 'accounting,answers,budgets,direct,journal,keys,limits,memory,pipeline,plan,upstream',
    },
    only: { type: 'string' },
    again: { type: 'string' },
    most: { type: 'string', default: '20' },
    'at-once': { type: 'string', default: String(availableParallelism()) },
    json: { type: 'string' },
  },
});
const judged: Judged[] = [];
const waiting = values.again === undefined ? chooseSome() : chooseAgain(values.again);
const count = judged.length + waiting.length;
const atOnce = Number(values['at-once']);
await recordTests(
  waiting.map(({ file }) => file),
  atOnce,
);
await Promise.all(Array.from({ length: atOnce }, judgeAll));

judged.sort((a, b) => (a.file === b.file ? a.start - b.start : a.file < b.file ? -1 : 1));
console.log('');
for (const one of judged) if (one.fate !== 'noticed') console.log(describe(one));
const noticed = judged.filter(({ fate }) => fate === 'noticed').length;
console.log(`\n${noticed} of ${judged.length} noticed (${Math.round((100 * noticed) / judged.length)} %)`);
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(judged, null, 1));

function chooseSome(): Candidate[] {
  const files =
    values.only === undefined
      ? values.modules.split(',').flatMap((module) => sourcesIn(`src/${module}`))
      : [values.only];
  const candidates = files.flatMap((file) => mutantsOf(file, readFileSync(file, 'utf8')));
  const chosen = shuffle(candidates, Number(values.seed)).slice(0, Number(values.count));
  console.log(`${chosen.length} of ${candidates.length} possible changes in ${files.length} files`);
  return chosen;
}

/** The undetected changes of an earlier run; they are searched for in the present files, which may have changed. */
function chooseAgain(path: string): Candidate[] {
  const chosen: Candidate[] = [];
  for (const one of JSON.parse(readFileSync(path, 'utf8')) as Judged[]) {
    if (one.fate === 'noticed') judged.push(one);
    else if (values.only === undefined || values.only === one.file) {
      const now = nowOf(one);
      if (now === undefined) console.log(`gone  ${one.file}:${one.line}  ${one.was}  ->  ${one.text}`);
      else chosen.push(now);
    } else judged.push(one);
  }
  console.log(`${chosen.length} of ${chosen.length + judged.length} changes are judged again`);
  return chosen;
}

function nowOf({ file, was, text, start }: Candidate): Candidate | undefined {
  if (!existsSync(file)) return undefined;
  return mutantsOf(file, readFileSync(file, 'utf8'))
    .filter((one) => one.was === was && one.text === text)
    .sort((a, b) => Math.abs(a.start - start) - Math.abs(b.start - start))[0];
}

async function judgeAll(): Promise<void> {
  for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
    const done = await judge(one);
    judged.push(done);
    console.log(`${judged.length} of ${count}  ${describe(done)}`);
  }
}

async function judge(mutant: Candidate): Promise<Judged> {
  const reaching = testsReaching(mutant);
  const some = reaching.slice(0, Number(values.most));
  const by = await noticedBy(mutant, some);
  if (by !== undefined) return { ...mutant, fate: 'noticed', by };
  const left = reaching.length - some.length;
  return { ...mutant, fate: reaching.length === 0 ? 'untested' : 'survived', ...(left > 0 && { left }) };
}

function describe({ fate, by, left, file, line, was, text }: Judged): string {
  const how = by === undefined ? (left === undefined ? '' : ` (${left} test files not run)`) : ` (${by})`;
  return `${fate}${how}  ${file}:${line}  ${was}  ->  ${text}`;
}

function sourcesIn(folder: string): string[] {
  if (!existsSync(folder)) throw new Error(`there is no ${folder}`);
  return globSync(`${folder}/**/*.ts`)
    .filter((file) => !file.endsWith('.test.ts'))
    .sort();
}

/** Shuffles; the order is the same for the same seed. */
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
