/**
 * Measures the memory of a proxy's connection: idle, within a response, or within a request.
 *
 *   node bench/connections.ts [--subjects raw,bare,postern] [--connections 1000,10000] [--states idle,streaming,half-sent]
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Child, createChildren } from './children.ts';
import { runLoad } from './load.ts';
import { firstCounter, type Payload, payloads } from './payloads.ts';
import { readDescriptorLimit } from './proc.ts';
import { monotonicUs } from './profile.ts';
import { type Reading, readReadings, withProbe } from './readings.ts';
import { formatTable } from './report.ts';
import { type RequestParts, toParts } from './requests.ts';
import { benchKeys, crowdedSubjects, type Running, type Subject } from './subjects.ts';
import { startRawUpstream, toHttpAnswer } from './upstream.ts';

const states = ['idle', 'streaming', 'half-sent'] as const;
type State = (typeof states)[number];

/** Besides connections: files, the store, what listens. */
const otherDescriptors = 200;
const openAtATime = 100;
const warmUp = { length: { seconds: 2 }, connections: 64, opened: 1_000 };
const settleMs = 2_000;
const patienceMs = 30_000;
const pollMs = 100;

const { values } = parseArgs({
  options: {
    subjects: { type: 'string', default: crowdedSubjects.map(({ name }) => name).join(',') },
    connections: { type: 'string', default: '1000,10000' },
    states: { type: 'string', default: states.join(',') },
  },
});

const children = createChildren(availableParallelism());
const temporary = mkdtempSync(join(tmpdir(), 'postern-connections-'));
process.once('exit', () => {
  children.killAll();
  rmSync(temporary, { recursive: true, force: true });
});
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

const stream = findPayload('sse-200');
/** The upstream's two answers: a whole one, and one that never sends more than its first event. */
const whole: Payload = { ...stream, name: 'whole' };
const held: Payload = { ...stream, name: 'held' };
const upstream = await startRawUpstream(children, process.execPath, temporary, [
  [whole.name, toHttpAnswer({ ...whole, ...firstEvents(1) })],
  [held.name, toHttpAnswer({ ...held, ...firstEvents(1) }).subarray(0, -'0\r\n\r\n'.length)],
]);

const limit = readDescriptorLimit() ?? Number.POSITIVE_INFINITY;
const rows: string[][] = [];
for (const subject of pick(crowdedSubjects, values.subjects, ({ name }) => name)) {
  for (const state of pick(states, values.states, (name) => name)) {
    for (const count of values.connections.split(',').map(Number)) {
      console.error(`${subject.name}: ${count} connections, ${state}`);
      const row = [subject.name, state, ...(await measure(subject, state, fitting(subject, state, count)))];
      rows.push(row);
      console.error(`  ${row.slice(2).join(', ')}`); // an interrupted long run has printed its results
    }
  }
}
await upstream.child.stop();
console.log(formatTable([['', 'state', 'connections', 'held, bytes each', 'resident, bytes each', 'RSS MB'], ...rows]));
process.exit(0);

/** A connection that streams has another behind it, to the upstream; those of `raw` always have. */
function fitting({ name }: Subject, state: State, count: number): number {
  const each = state === 'streaming' || name === 'raw' ? 2 : 1;
  const most = Math.floor((limit - otherDescriptors) / each);
  if (count <= most) return count;
  console.error(
    `${most} instead of ${count}: these want \`ulimit -n ${count * each + otherDescriptors}\`, and it is ${limit}`,
  );
  return most;
}

async function measure(subject: Subject, state: State, count: number): Promise<string[]> {
  const payload = state === 'streaming' ? held : whole;
  const directory = join(temporary, `${subject.name}-${state}-${count}`);
  mkdirSync(directory);
  const probeFile = join(directory, 'probe.jsonl');
  const setting = { children, runtime: process.execPath, directory, payload, upstreamPort: upstream.port };
  const running = await subject.start({ ...setting, ...withProbe(probeFile, true) });
  const sockets: Socket[] = [];
  try {
    await warm(running, state, directory);
    const before = await nextReading(probeFile, running.child);
    await openAll(running, state, count, sockets);
    const after = await nextReading(probeFile, running.child);
    const lost = sockets.filter(({ destroyed }) => destroyed).length;
    if (lost > 0) return [String(count), `void: ${lost} connections were closed`, '', ''];
    const each = (bytes: (one: Reading) => number): string => ((bytes(after) - bytes(before)) / count).toFixed(0);
    const rss = (after.rssBytes / 1024 ** 2).toFixed(0);
    return [String(count), each(({ heldBytes }) => heldBytes), each(({ rssBytes }) => rssBytes), rss];
  } finally {
    for (const socket of sockets) socket.destroy();
    await running.child?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What a process takes once and keeps is no connection's. */
async function warm(running: Running, state: State, directory: string): Promise<void> {
  if (state !== 'streaming') {
    const { port, path } = running;
    const requests = {
      port,
      path,
      body: whole.request,
      bodyType: whole.requestType,
      counterAt: whole.counterAt,
      firstCounter,
      keys: benchKeys,
    };
    await runLoad(children, process.execPath, directory, { ...warmUp, requests, rate: undefined });
  }
  const sockets: Socket[] = [];
  await openAll(running, state, warmUp.opened, sockets);
  for (const socket of sockets) socket.destroy();
}

async function openAll({ port, path }: Running, state: State, count: number, sockets: Socket[]): Promise<void> {
  const { request, requestType, counterAt } = whole;
  const parts = toParts({ port, path, body: request, bodyType: requestType, counterAt, firstCounter, keys: benchKeys });
  let opened = 0;
  const open = async (): Promise<void> => {
    while (opened < count) {
      opened += 1;
      sockets.push(await openOne(port, parts, opened, state));
    }
  };
  await Promise.all(Array.from({ length: openAtATime }, open));
}

/** Idle connections have had an answer; of the half-sent, the head and a part of the body are there. */
async function openOne(port: number, { openings, rest }: RequestParts, index: number, state: State): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => undefined); // it counts as closed
  socket.setTimeout(patienceMs, () => socket.destroy());
  const opening = `${openings[index % openings.length]}${firstCounter + index}`;
  const isHalf = state === 'half-sent';
  await new Promise<void>((resolve) => {
    socket.once('close', resolve);
    socket.write(isHalf ? opening : Buffer.concat([Buffer.from(opening), rest]), () => {
      if (isHalf) resolve();
    });
    const end = state === 'idle' ? '0\r\n\r\n' : '\n\n';
    socket.on('data', (bytes: Buffer) => {
      if (bytes.includes(end)) resolve();
    });
  });
  socket.setTimeout(0);
  return socket;
}

/** Two lines after all is quiet: the first may have been begun before. */
async function nextReading(file: string, child: Child | undefined): Promise<Reading> {
  await wait(settleMs);
  const fromUs = monotonicUs();
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    const [, second] = readReadings(file).filter(({ atUs }) => atUs >= fromUs);
    if (second !== undefined) return second;
    if (child?.hasEnded() || performance.now() > deadlineMs) throw new Error('the subject tells nothing of its memory');
    await wait(pollMs);
  }
}

function firstEvents(count: number): Pick<Payload, 'answer'> & { readonly eventEnds: readonly number[] } {
  const eventEnds = stream.eventEnds?.slice(0, count) ?? [];
  return { answer: stream.answer.subarray(0, eventEnds.at(-1)), eventEnds };
}

function findPayload(name: string): Payload {
  const found = payloads.find((payload) => payload.name === name);
  if (found === undefined) throw new Error(`no payload is called ${name}`);
  return found;
}

function pick<Item>(all: readonly Item[], wanted: string, nameOf: (item: Item) => string): Item[] {
  const names = wanted.split(',');
  const unknown = names.find((name) => !all.some((item) => nameOf(item) === name));
  if (unknown !== undefined) throw new Error(`there is no "${unknown}"; there are ${all.map(nameOf).join(', ')}`);
  return all.filter((item) => names.includes(nameOf(item)));
}
