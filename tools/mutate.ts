/**
 * `npm run mutate`: finds lines that no test checks. Changes one place of the source at a time, in memory, and runs the tests near it, then those
 * of its module, then those of the whole gateway in one process; undetected changes are printed. `--count 300`, `--seed 1`, `--modules
 * accounting,keys`, `--only src/x.ts`, `--stages near,module,wide`, `--at-once 4`, `--json F`; `--again F` runs only those that an earlier run
 * did not detect.
 */

import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { isNoticed } from './mutant-tests.ts';
import { type Candidate, mutantsOf } from './mutants.ts';

interface Judged extends Candidate {
  readonly fate: 'noticed' | 'survived' | 'untested';
  /** The stage that noticed it. */
  readonly by?: string;
}

/** Test files that run in one process, and how many changes they noticed so far. */
interface Group {
  readonly files: readonly string[];
  noticed: number;
}

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    modules: { type: 'string', default: 'accounting,budgets,journal,keys,limits,memory,pipeline,upstream' },
    only: { type: 'string' },
    again: { type: 'string' },
    stages: { type: 'string', default: 'near,module,wide' },
    'at-once': { type: 'string', default: String(availableParallelism()) },
    json: { type: 'string' },
  },
});
const wideGroups = 12;
const wide = groupsOf(wideTests(), wideGroups);
const stages = new Map<string, (file: string) => Group[]>([
  ['near', (file) => groupsOf(testsNear(file), 1)],
  ['module', (file) => groupsOf(testsOfModule(file), 1)],
  // Tests that detected most come first.
  ['wide', () => wide.toSorted((a, b) => b.noticed - a.noticed)],
]);
const stagesToRun = values.stages.split(',');

const judged: Judged[] = [];
const waiting = values.again === undefined ? chooseSome() : chooseAgain(values.again);
const count = judged.length + waiting.length;
await Promise.all(Array.from({ length: Number(values['at-once']) }, judgeAll));

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

/** Detected changes stay so; the others are searched for in the present files, which may have changed. */
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
  let fate: Judged['fate'] = 'untested';
  for (const by of stagesToRun) {
    for (const group of stages.get(by)?.(mutant.file) ?? []) {
      fate = 'survived';
      if (!(await isNoticed(mutant, group.files))) continue;
      group.noticed += 1;
      return { ...mutant, fate: 'noticed', by };
    }
  }
  return { ...mutant, fate };
}

function describe({ fate, by, file, line, was, text }: Judged): string {
  return `${fate}${by === undefined ? '' : ` (${by})`}  ${file}:${line}  ${was}  ->  ${text}`;
}

/** Each group is a slice of all, as files that lie side by side see the same. */
function groupsOf(files: readonly string[], most: number): Group[] {
  return Array.from({ length: most }, (_, part) => files.filter((_, index) => index % most === part))
    .filter((part) => part.length > 0)
    .map((part) => ({ files: part, noticed: 0 }));
}

/** The test beside the file, and those of its folder that import it. */
function testsNear(file: string): string[] {
  const beside = file.replace(/\.ts$/, '.test.ts');
  const name = `/${basename(file)}'`;
  return globSync(`${dirname(file)}/*.test.ts`)
    .filter((test) => test === beside || readFileSync(test, 'utf8').includes(name))
    .sort();
}

function testsOfModule(file: string): string[] {
  const near = testsNear(file);
  return globSync(`${dirname(file)}/**/*.test.ts`)
    .filter((test) => !near.includes(test))
    .sort();
}

/** A process that a test starts does not read the change. */
function wideTests(): string[] {
  return globSync('test/conformance/*.test.ts')
    .filter((test) => !/child_process|gateway-process|postern-command|server-program/.test(readFileSync(test, 'utf8')))
    .sort();
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
