/** `npm run bench`: runs every payload through every subject in turns, and prints and keeps the figures. */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createChildren } from './children.ts';
import { type Load, loadTool, runLoad } from './load.ts';
import { type Measurement, type Row, type Series, toMeasurement, voidReason } from './measurement.ts';
import { type Payload, payloads } from './payloads.ts';
import { findProfile, formatTop, monotonicUs } from './profile.ts';
import { formatRow, formatSummary } from './report.ts';
import { availableSubjects, benchKey, type Running, type Subject } from './subjects.ts';
import { type BenchUpstreams, startUpstreams } from './upstream.ts';

const usage = `npm run bench -- [options]

  --rounds N       timed runs of each subject on each payload, in turns (3)
  --seconds N      length of a timed run (5)
  --only NAMES     payloads, separated by commas: ${payloads.map(({ name }) => name).join(', ')}
  --subjects NAMES direct, nginx, bare, postern, unscreened, watched, capped, shared; separated by commas (all that can run here)
  --rate N         open loop: N requests a second at fixed times, by a client of our own
  --quick          one round of 2 seconds
  --profile        one run of Postern under --cpu-prof, on the one payload that --only names
  --name NAME      the file under bench/results/ (the time of the run)
`;

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    only: { type: 'string' },
    subjects: { type: 'string' },
    rate: { type: 'string' },
    quick: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    name: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const root = fileURLToPath(new URL('..', import.meta.url));
const resultsDirectory = join(root, 'bench', 'results');
/** The runtime that `bin/postern` picks: both JavaScript proxies must run on the same one. */
const ownRuntime = join(root, 'node_modules', '.bin', 'node');
const runtime = existsSync(ownRuntime) ? ownRuntime : process.execPath;
const rounds = options.quick ? 1 : toCount('rounds', options.rounds);
const seconds = options.quick ? 2 : toCount('seconds', options.seconds);
const warmUpSeconds = options.quick ? 1 : 2;
const rate = options.rate === undefined ? undefined : toCount('rate', options.rate);
const tool = loadTool(rate);
const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${benchKey}` };
const children = createChildren(availableParallelism());
const temporary = mkdtempSync(join(tmpdir(), 'postern-bench-'));

process.once('exit', () => {
  children.killAll();
  rmSync(temporary, { recursive: true, force: true });
});
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

if (options.help) {
  console.log(usage);
} else {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1); // at once: children that still run would keep this process waiting
  }
}

async function main(): Promise<void> {
  const chosen = choose('payload', payloads, options.only);
  const subjects = choose('subject', availableSubjects(), options.subjects);
  mkdirSync(resultsDirectory, { recursive: true });
  const upstreams = await startUpstreams(children, runtime, join(temporary, 'upstreams'), chosen);
  if (options.profile) await profile(upstreams, chosen);
  else await compare(upstreams, chosen, subjects);
  await upstreams.stop();
}

async function compare(
  upstreams: BenchUpstreams,
  chosen: readonly Payload[],
  subjects: readonly Subject[],
): Promise<void> {
  const minutes = (chosen.length * subjects.length * (rounds * seconds + warmUpSeconds + 1)) / 60;
  const loop = rate === undefined ? 'closed loop' : `open loop at ${rate} a second`;
  console.log(`${tool}, ${loop}, ${rounds} rounds of ${seconds} s: about ${Math.ceil(minutes)} min\n`);
  const rows: Row[] = [];
  for (const [index, payload] of chosen.entries()) {
    const row = await measureRow(upstreams, payload, subjects, `[${index + 1}/${chosen.length}]`);
    rows.push(row);
    progress('');
    console.log(`${formatRow(row)}\n`);
  }
  console.log(formatSummary(rows));
  const file = join(resultsDirectory, `${options.name ?? new Date().toISOString().replaceAll(/[:.]/g, '-')}.json`);
  writeFileSync(file, JSON.stringify({ environment: describeEnvironment(), rows }, undefined, 2));
  console.log(`\n${file}`);
}

interface Lane {
  readonly subject: Subject;
  readonly running: Running;
  readonly measured: Measurement[];
  void: string | undefined;
}

async function measureRow(
  upstreams: BenchUpstreams,
  payload: Payload,
  subjects: readonly Subject[],
  place: string,
): Promise<Row> {
  const upstream = upstreams.of(payload);
  const directory = join(temporary, payload.name);
  mkdirSync(directory, { recursive: true });
  const setting = { children, runtime, directory, payload, upstreamPort: upstream.port };
  const lanes: Lane[] = [];
  try {
    for (const subject of subjects) {
      progress(`${place} ${payload.name}: ${subject.name} warms up`);
      const running = await subject.start(setting);
      const lane: Lane = { subject, running, measured: [], void: undefined };
      lanes.push(lane);
      lane.void = await mismatch(running, payload);
      if (lane.void === undefined) await measure(running, payload, directory, warmUpSeconds);
    }
    for (let round = 1; round <= rounds; round += 1) {
      for (const lane of lanes) {
        if (lane.void !== undefined) continue;
        progress(`${place} ${payload.name}: ${lane.subject.name}, round ${round} of ${rounds}`);
        const measurement = await measure(lane.running, payload, directory, seconds);
        lane.measured.push(measurement);
        lane.void = voidReason(measurement.errors);
      }
    }
  } finally {
    await Promise.all(lanes.map(({ running }) => running.child?.stop()));
    rmSync(directory, { recursive: true, force: true }); // access logs grow by the gigabyte
  }
  return {
    payload: payload.name,
    title: payload.title,
    requestBytes: payload.request.length,
    answerBytes: payload.answer.length,
    connections: payload.connections,
    upstream: upstream.kind,
    series: lanes.map((lane): Series => ({ subject: lane.subject.name, rounds: lane.measured, void: lane.void })),
  };
}

async function measure(
  running: Running,
  payload: Payload,
  directory: string,
  forSeconds: number,
): Promise<Measurement> {
  const load: Load = {
    port: running.port,
    path: running.path,
    headers,
    request: payload.request,
    connections: payload.connections,
    seconds: forSeconds,
    rate,
  };
  const before = running.child?.cpuSeconds();
  const result = await runLoad(children, runtime, directory, load);
  const after = running.child?.cpuSeconds();
  const cpuSeconds = before === undefined || after === undefined ? undefined : after - before;
  return toMeasurement(result, cpuSeconds, running.child?.rssBytes());
}

/** One request before all others: a subject that does not give back the upstream's bytes is not worth timing. */
async function mismatch(running: Running, payload: Payload): Promise<string | undefined> {
  const answer = await new Promise<{ status: number; body: Buffer }>((resolve, reject) => {
    const sent = request(
      {
        port: running.port,
        host: '127.0.0.1',
        path: running.path,
        method: 'POST',
        headers,
        agent: false,
        timeout: 10_000,
      },
      (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(pieces) }));
      },
    );
    sent.on('timeout', () => sent.destroy(new Error('no answer within 10 s')));
    sent.on('error', reject);
    sent.end(payload.request);
  });
  if (answer.status !== 200) return `status ${answer.status}: ${answer.body.toString('utf8', 0, 200)}`;
  if (digest(answer.body) !== digest(payload.answer))
    return `another body than the upstream's (${answer.body.length} bytes)`;
  return undefined;
}

async function profile(upstreams: BenchUpstreams, chosen: readonly Payload[]): Promise<void> {
  const [payload] = chosen;
  if (payload === undefined || chosen.length > 1) throw new Error('--profile wants one payload: add --only NAME');
  const postern = availableSubjects().find(({ name }) => name === 'postern');
  if (postern === undefined) throw new Error('Postern cannot be run here');
  const directory = join(temporary, payload.name);
  const profileDirectory = join(resultsDirectory, `${options.name ?? payload.name}-profile`);
  rmSync(profileDirectory, { recursive: true, force: true });
  mkdirSync(profileDirectory, { recursive: true });
  mkdirSync(directory, { recursive: true });
  const upstreamPort = upstreams.of(payload).port;
  const running = await postern.start({ children, runtime, directory, payload, upstreamPort, profileDirectory });
  const fault = await mismatch(running, payload);
  if (fault !== undefined) throw new Error(`Postern gives back ${fault}`);
  progress(`${payload.name}: ${seconds} s under the profiler`);
  await measure(running, payload, directory, warmUpSeconds);
  const fromUs = monotonicUs();
  const { rps, errors } = await measure(running, payload, directory, seconds);
  const span = { fromUs, toUs: monotonicUs() };
  await running.child?.stop(); // the profile is written at the end of the process
  progress('');
  const file = findProfile(profileDirectory);
  if (file === undefined) throw new Error(`no profile came; the output ends:\n${running.child?.output().slice(-1000)}`);
  console.log(
    `${payload.name}: ${Math.round(rps)} requests a second under the profiler; ${voidReason(errors) ?? 'no errors'}`,
  );
  console.log(`${formatTop(file, span, 25)}\n\n${file}`);
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

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function toCount(name: string, text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  console.error(`--${name} wants a whole number above 0, not ${JSON.stringify(text)}`);
  process.exit(1);
}

/** On a terminal the line is written over; elsewhere each stands on its own. */
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
    tool,
    rate,
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
