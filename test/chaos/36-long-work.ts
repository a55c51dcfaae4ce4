/** Promise 36: translation, counting and local models never delay other requests, and are bounded. */

import type { TestContext } from 'node:test';
import { ZodError } from 'zod';
import { isMadeHere, offersOf, standardOptions } from '../../src/core/family.ts';
import { type Operation, operationRows } from '../../src/core/operations/index.ts';
import { families } from '../../src/families/index.ts';
import { serve, toEntry } from '../families/family-setup.ts';
import type { FamilyFixture, WireCall, WireReply } from '../families/fixture.ts';
import { toRequestBytes } from '../support/clients/raw-client.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { definePromise, type Figure, within } from './promise.ts';
import { makeLongBody, namesOf } from './support/hostile/long-bodies.ts';
import { createRandom } from './support/random.ts';
import { createEventLoopMeter } from './support/readings/event-loop.ts';
import { createViolations } from './support/readings/findings.ts';

const MiB = 1024 ** 2;
/** All bodies are sent to all, or as many as the time allows: others with each seed. */
const scales = {
  long: { limitBytes: 32 * MiB, timeMs: 900_000 },
  short: { limitBytes: 4 * MiB, timeMs: 40_000 },
} as const;

const answerTimeoutMs = 600_000;
/** Twice what is ever translated. One that was moderated is a thousand characters: of all that fit into a body no text could be made. */
const mostAnswered = 100_000;
/** The lists of some services stand in an object of their own. */
const listDepth = 2;
const longestTurnMs = 100;
const p99TurnMs = 50;
const mostCpuMs = 10_000;
/** Beyond so many times its bar a time is no matter of the machine. */
const failingFactor = 10;

/** The pretended service that answers conversations, too: bridges are the same over all. */
const speaksChat = 'mistral';

interface Service {
  readonly family: string;
  readonly operation: Operation;
  readonly model: string;
}

/** The longest so far, and of what. */
interface Worst {
  ms: number;
  of: string;
}

export default definePromise({
  no: 36,
  title: 'every family and operation, with bodies that take long to process',
  async run({ t, scale, seed, progress }) {
    const { limitBytes, timeMs } = scales[scale];
    const { services, document } = await openServices(t);
    const meter = await createEventLoopMeter(t);
    const gateway = await startGatewayProcess({
      env: meter.env,
      // A busy machine is no reason to refuse requests.
      config: { ...document, server: { body_limit: `${limitBytes / MiB}MiB` } },
    });
    t.after(() => gateway.stop());

    const wrong = createViolations('answers other than 2xx and 4xx');
    const operations = new Map<Operation, { turn: Worst; cpuTurn: Worst; p99: Worst; cpu: Worst }>();
    const tasks = shuffled(
      services.flatMap((service) => namesOf(service.operation).map((name) => ({ service, name }))),
      seed,
    );
    const endMs = performance.now() + timeMs;
    let sent = 0;
    let refused = 0;
    for (const { service, name } of tasks) {
      if (performance.now() > endMs) break;
      const { operation, model } = service;
      const body = makeLongBody(operation, name, model, limitBytes);
      const of = `${service.family}, ${name}`;
      progress(`${operation}: ${of}`);
      await meter.read(gateway);
      const { status, said } = await send(gateway, operation, body);
      const { maxMs, p99Ms, maxCpuMs, cpuMs } = await meter.read(gateway);
      sent += 1;
      if (status >= 400 && status < 500) refused += 1;
      else if (status < 200 || status >= 300) wrong.add(`${operation} of ${of}: ${status} ${said}`);
      const worst = operations.get(operation) ?? { turn: none(), cpuTurn: none(), p99: none(), cpu: none() };
      operations.set(operation, worst);
      keepWorst(worst.turn, maxMs, of);
      keepWorst(worst.cpuTurn, maxCpuMs, of);
      keepWorst(worst.p99, p99Ms, of);
      keepWorst(worst.cpu, cpuMs, of);
    }
    const size = `${limitBytes / MiB} MiB`;
    return [
      ...[...operations].flatMap(([operation, { turn, cpuTurn, p99, cpu }]) => [
        timed(`${operation}, ${size}: event-loop delay, p99`, p99, p99TurnMs, false),
        timed(`${operation}, ${size}: event-loop delay, longest`, turn, longestTurnMs, false),
        timed(`${operation}, ${size}: the longest turn by its own work`, cpuTurn, longestTurnMs, true),
        timed(`${operation}, ${size}: work for one request`, cpu, mostCpuMs, true),
      ]),
      someOfEach(sent, tasks.length, refused),
      wrong.outOf(sent),
    ];
  },
});

/** The same order for the same seed. */
function shuffled<T>(list: readonly T[], seed: number): T[] {
  const random = createRandom(seed);
  return list
    .map((element) => ({ element, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ element }) => element);
}

const none = (): Worst => ({ ms: 0, of: '' });

function keepWorst(worst: Worst, ms: number, of: string): void {
  if (ms <= worst.ms) return;
  worst.ms = ms;
  worst.of = of;
}

/** The CPU time of the process does not depend on other users of the machine, so it can fail. */
function timed(name: string, { ms, of }: Worst, barMs: number, isOwnWork: boolean): Figure {
  const figure = within(name, ms, barMs);
  return { ...figure, measured: `${figure.measured} (${of})`, broken: isOwnWork && ms > failingFactor * barMs };
}

function someOfEach(sent: number, all: number, refused: number): Figure {
  const met = refused > 0 && refused < sent;
  return {
    name: 'bodies sent, as time allows, and of these refused',
    bar: 'some of each',
    measured: `${sent} of ${all}, ${refused}`,
    met,
    broken: sent === 0,
  };
}

/** A pretended service for each family, and models for whatever each offers. */
async function openServices(
  t: TestContext,
): Promise<{ services: Service[]; document: Readonly<Record<string, unknown>> }> {
  const services: Service[] = [];
  const upstreams: object[] = [];
  const models: object[] = [];
  const add = (family: string, operation: Operation, target: object, model: string): void => {
    models.push({ id: model, operations: [operation], targets: [target] });
    services.push({ family, operation, model });
  };
  const patience = { timeouts: { first_byte: '10m', idle: '10m', total: '10m' } };
  for (const family of families) {
    const offers = offersOf(family, standardOptions(family));
    const { id } = family;
    if (isMadeHere(offers)) {
      upstreams.push({ id, family: id });
      for (const { id: model, operations } of family.builtIn ?? []) {
        for (const operation of operations) services.push({ family: id, operation, model });
      }
      continue;
    }
    const fixture = await fixtureOf(id);
    const { port } = await serve(t, (call) => answerOf(fixture, call));
    upstreams.push({ ...toEntry(fixture, `http://127.0.0.1:${port}`), id, ...patience });
    for (const operation of Object.keys(offers.openai ?? {}) as Operation[]) {
      const target = { upstream: id, model: fixture.models?.[operation] ?? fixture.model };
      add(id, operation, target, `${id}/${operation}`);
    }
    if (id !== speaksChat) continue;
    for (const operation of ['completions', 'edits'] as const) {
      add(
        `${id} by way of chat`,
        operation,
        { upstream: id, model: fixture.model, bridge: 'chat' },
        `chat/${operation}`,
      );
    }
  }
  return { services, document: { upstreams, models } };
}

/** What does not fit its schema, or is more than it was made for, it refuses in few words. */
function answerOf(fixture: FamilyFixture, call: WireCall): WireReply {
  if (mostIn(call.body) > mostAnswered) return fixture.error(400, 'it is too much at a time');
  try {
    return fixture.service(call);
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof ZodError)) throw error;
    return fixture.error(400, 'it does not fit');
  }
}

/** Of the lists in a call, how many the longest has; one of numbers is one text in token IDs. */
function mostIn(value: unknown, depth = listDepth): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value) && typeof value[0] === 'number') return 0;
  const own = Array.isArray(value) ? value.length : 0;
  if (depth === 0 || own > mostAnswered) return own;
  return Object.values(value).reduce<number>((most, inner) => Math.max(most, mostIn(inner, depth - 1)), own);
}

async function fixtureOf(id: string): Promise<FamilyFixture> {
  const { default: fixture }: { default: FamilyFixture } = await import(`../families/${id}.ts`);
  return fixture;
}

async function send(
  gateway: GatewayProcess,
  operation: Operation,
  body: Buffer,
): Promise<{ status: number; said: string }> {
  const connection = await connect(gateway.port, { timeoutMs: answerTimeoutMs });
  try {
    const headers = [['Authorization', `Bearer ${gateway.key}`]] as const;
    await connection.write(toRequestBytes({ path: operationRows[operation].path, headers, body }));
    const answer = await connection.nextResponse();
    return { status: answer.status, said: answer.body.subarray(0, 300).toString() };
  } finally {
    connection.destroy();
  }
}
