/** `npm run bench`: runs every payload through every subject in turn, then prints and saves the figures. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Children, createChildren, type Placement } from './children.ts';
import { measureLanes } from './lanes.ts';
import { loadTool } from './load.ts';
import type { Row } from './measurement.ts';
import { type Payload, payloads } from './payloads.ts';
import { profile } from './profiling.ts';
import { formatRow, formatSummary } from './report.ts';
import { availableSubjects, type Subject, usualSubjects } from './subjects.ts';
import { measureRow, type Rate, type Rig } from './turns.ts';
import { startUpstreams } from './upstream.ts';

const usage = `npm run bench -- [options]

  --rounds N       timed runs of each subject on each payload, in turns (3)
  --seconds N      length of a timed run (5)
  --idle N         seconds without requests before each timed run (0)
  --only NAMES     payloads, separated by commas: ${payloads.map(({ name }) => name).join(', ')}
  --subjects NAMES direct, nginx, envoy, raw, bare, postern, unscreened, watched, capped, shared; separated by commas
                   (${usualSubjects.join(', ')})
  --with-limits    capped, too: limits, a budget and a price on every key
  --rate N         open loop: N requests a second at fixed times, by a client of our own; "third": a third of what the
                   slowest proxy answers in its warm-up
  --one-core       proxy, load and upstream share a core
  --open-loop      rerank-10 (or --only) twice: --rate third --one-core, and --rate 2000 with the proxy on its own core
  --lanes          interactive search beside bulk indexing through one upstream (see bench/lanes.ts)
  --quick          one round of 2 seconds after 2,000 requests
  --profile        CPU by module, thread and system call, and bytes allocated, on the one payload that --only names; of
                   Postern, or of the one that --subjects names
  --name NAME      the file under bench/results/ (the time of the run)
`;

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    idle: { type: 'string' },
    only: { type: 'string' },
    subjects: { type: 'string' },
    'with-limits': { type: 'boolean', default: false },
    rate: { type: 'string' },
    'one-core': { type: 'boolean', default: false },
    'open-loop': { type: 'boolean', default: false },
    lanes: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    name: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

/** A table a payload, all under the same load. */
interface Pass {
  readonly rate: Rate;
  readonly placement: Placement;
}

const third: Rate = { share: 1 / 3 };
const fixedRate = 2_000;

const root = fileURLToPath(new URL('..', import.meta.url));
const resultsDirectory = join(root, 'bench', 'results');
/** The runtime that `bin/postern` picks: all JavaScript proxies must run on the same one. */
const ownRuntime = join(root, 'node_modules', '.bin', 'node');
const runtime = existsSync(ownRuntime) ? ownRuntime : process.execPath;
const rounds = options.quick ? 1 : toCount('rounds', options.rounds);
const seconds = options.quick ? 2 : toCount('seconds', options.seconds);
const idleSeconds = options.idle === undefined ? 0 : toCount('idle', options.idle);
const warmUpRequests = options.quick ? 2_000 : 50_000;
const temporary = mkdtempSync(join(tmpdir(), 'postern-bench-'));
const allChildren: Children[] = [];

process.once('exit', () => {
  for (const children of allChildren) children.killAll();
  rmSync(temporary, { recursive: true, force: true });
});
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

if (options.help) {
  console.log(usage);
} else if (options.lanes) {
  await measureLanes(Number(options.seconds), (text) => console.log(`${text}\n`));
} else {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1); // at once: children that still run would keep this process waiting
  }
}

async function main(): Promise<void> {
  const only = options.only ?? (options['open-loop'] ? 'rerank-10' : undefined);
  const chosen = choose('payload', payloads, only);
  mkdirSync(resultsDirectory, { recursive: true });
  if (options.profile) {
    await profileOne(chosen);
    return;
  }
  const extra = options['with-limits'] ? ['capped'] : [];
  const usual = availableSubjects().filter(({ name }) => usualSubjects.includes(name));
  const names = options.subjects?.split(',') ?? usual.map(({ name }) => name);
  const subjects = choose('subject', availableSubjects(), [...new Set([...names, ...extra])].join(','));
  const rows: Row[] = [];
  for (const pass of toPasses()) rows.push(...(await compare(chosen, subjects, pass)));
  const file = join(resultsDirectory, `${options.name ?? new Date().toISOString().replaceAll(/[:.]/g, '-')}.json`);
  writeFileSync(file, JSON.stringify({ environment: describeEnvironment(), rows }, undefined, 2));
  console.log(`\n${file}`);
}

function toPasses(): readonly Pass[] {
  if (options['open-loop']) {
    return [
      { rate: third, placement: 'one core' },
      { rate: { perSecond: fixedRate }, placement: 'two cores' },
    ];
  }
  const rate: Rate =
    options.rate === undefined
      ? undefined
      : options.rate === 'third'
        ? third
        : { perSecond: toCount('rate', options.rate) };
  return [{ rate, placement: options['one-core'] ? 'one core' : 'two cores' }];
}

async function compare(chosen: readonly Payload[], subjects: readonly Subject[], pass: Pass): Promise<Row[]> {
  const warmUpSeconds = warmUpRequests / 4_000 + 6;
  const minutes = (chosen.length * subjects.length * (rounds * (seconds + idleSeconds) + warmUpSeconds)) / 60;
  const tool = loadTool(pass.rate !== undefined);
  console.log(
    `${tool}, ${describeRate(pass.rate)}, ${pass.placement}, ${rounds} rounds of ${seconds} s: about ${Math.ceil(minutes)} min\n`,
  );
  return await withRig(chosen, pass.placement, async (rig) => {
    const rows: Row[] = [];
    for (const [index, payload] of chosen.entries()) {
      const row = await measureRow(rig, payload, subjects, pass.rate, `[${index + 1}/${chosen.length}]`);
      rows.push(row);
      progress('');
      console.log(`${formatRow(row)}\n`);
    }
    if (pass.rate === undefined) console.log(formatSummary(rows));
    return rows;
  });
}

function describeRate(rate: Rate): string {
  if (rate === undefined) return 'closed loop';
  if ('perSecond' in rate) return `open loop at ${rate.perSecond} a second`;
  return 'open loop at a third of what the slowest proxy can do';
}

async function profileOne(chosen: readonly Payload[]): Promise<void> {
  const [payload] = chosen;
  if (payload === undefined || chosen.length > 1) throw new Error('--profile wants one payload: add --only NAME');
  const [subject, second] = choose('subject', availableSubjects(), options.subjects ?? 'postern');
  if (subject === undefined || second !== undefined) throw new Error('--profile wants one subject');
  const directory = join(resultsDirectory, `${options.name ?? payload.name}-profile`);
  await withRig([payload], 'two cores', (rig) => profile(rig, payload, subject, directory));
}

async function withRig<Result>(
  chosen: readonly Payload[],
  placement: Placement,
  work: (rig: Rig) => Promise<Result>,
): Promise<Result> {
  const children = createChildren(availableParallelism(), placement);
  allChildren.push(children);
  const upstreams = await startUpstreams(children, runtime, join(temporary, 'upstreams'), chosen);
  const rig = {
    children,
    upstreams,
    placement,
    runtime,
    temporary,
    rounds,
    seconds,
    idleSeconds,
    warmUpRequests,
    progress,
  };
  const result = await work(rig);
  await upstreams.stop();
  // What a subject brought along, such as a Redis.
  children.killAll();
  return result;
}

function choose<Item extends { readonly name: string }>(
  kind: string,
  all: readonly Item[],
  wanted: string | undefined,
): readonly Item[] {
  if (wanted === undefined) return all;
  return wanted.split(',').map((name) => {
    const found = all.find((item) => item.name === name);
    if (found === undefined)
      throw new Error(`no ${kind} "${name}" here; there are ${all.map((item) => item.name).join(', ')}`);
    return found;
  });
}

function toCount(name: string, text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  console.error(`--${name} wants a whole number above 0, not ${JSON.stringify(text)}`);
  process.exit(1);
}

/** On a terminal the line is overwritten; elsewhere each is printed on its own. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
  else if (text !== '') process.stderr.write(`${text}\n`);
}

function describeEnvironment(): unknown {
  return {
    at: new Date().toISOString(),
    commit: readCommit(),
    runtime: execFileSync(runtime, ['--version'], { encoding: 'utf8' }).trim(),
    cpu: cpus()[0]?.model,
    cores: availableParallelism(),
    tool: loadTool(options['open-loop'] || options.rate !== undefined),
    rounds,
    seconds,
  };
}

function readCommit(): string | undefined {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], {
      cwd: root,
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
  } catch {
    return undefined; // not a checkout, or one without a commit
  }
}
