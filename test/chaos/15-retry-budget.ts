/** Promise 15: with upstreams that fail every call, retries stay within the budget, and unsafe calls are not repeated. */

import { toRequestBytes } from '../support/clients/raw-client.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import {
  type FakeUpstream,
  type Handler,
  startFakeUpstream,
  type UpstreamRequest,
} from '../support/upstreams/fake-upstream.ts';
import { atMost, type ChaosRig, definePromise, type Figure, type Scale } from './promise.ts';
import { type LoadReport, runLoad } from './support/clients/load.ts';
import { createRandom } from './support/random.ts';
import { none } from './support/readings/findings.ts';

const loadMs: Readonly<Record<Scale, number>> = { long: 30_000, short: 1_000 };

const clients = 24;
/** The contract's token bucket, an upstream: what each request adds, what a second adds, and the most that is stored. */
const perRequest = 0.2;
const perSecond = 10;
const stored = 50;

interface Question {
  readonly path: string;
  readonly body: Readonly<Record<string, string>>;
  /** Not to be sent again after a byte of it left. */
  readonly once: boolean;
}

const questions: readonly Question[] = [
  { path: '/v1/embeddings', body: { model: 'embed', input: 'x' }, once: false },
  { path: '/v1/completions', body: { model: 'safe', prompt: 'x' }, once: true },
  { path: '/v1/edits', body: { model: 'safe', input: 'x', instruction: 'y' }, once: true },
  { path: '/v1/completions', body: { model: 'always', prompt: 'x' }, once: false },
];

/** Passed on by configuration, so that the journals tell the questions apart, bodies or not. */
const onceHeader = 'x-only-once';

export default definePromise({
  no: 15,
  title: 'upstreams that always answer 503, that reset the connection after the request, and that answer 429',
  async run(rig) {
    const random = createRandom(rig.seed);
    const refusing: Handler = (_request, reply) => reply.json(503, { error: { message: 'no' } });
    // FIN and RST, before the body has come and after it: each time a byte of the call has left.
    const breaking: Handler = async (_request, reply) => {
      await reply.sleep(random() * 3);
      return random() < 0.5 ? reply.reset() : reply.cut();
    };
    const limiting: Handler = (_request, reply) => reply.json(429, { error: { message: 'too many' } });
    const working: Handler = (_request, reply) => reply.json(200, { ok: true });
    const [refused, broken, limited] = await Promise.all([
      runTrial(rig, [refusing, refusing], 'complete'),
      runTrial(rig, [breaking, breaking], 'head'),
      runTrial(rig, [limiting, working], 'complete'),
    ]);
    const allowed = sentTwice(limited).length;
    return [
      ...withinBudget('503 always', refused),
      ...withinBudget('resets', broken),
      ...withinBudget('429 of one', limited),
      none('completions and edits sent twice after a 503', sentTwice(refused)),
      none('completions and edits sent twice after a reset', sentTwice(broken)),
      {
        name: 'completions and edits sent again after a 429',
        bar: 'some, as they may be',
        measured: String(allowed),
        met: allowed > 0,
        broken: allowed === 0,
      },
      atMost(
        'answers other than 200 where one of two says 429',
        limited.report.sent - (limited.report.statuses['200'] ?? 0),
        0,
      ),
    ];
  },
});

interface Trial {
  readonly seconds: number;
  readonly report: LoadReport;
  readonly journals: readonly (readonly UpstreamRequest[])[];
}

/** A gateway and upstreams of its own for each: nothing that one of them learns changes another. */
async function runTrial({ t, scale }: ChaosRig, handlers: readonly Handler[], at: 'head' | 'complete'): Promise<Trial> {
  const upstreams = await Promise.all(
    handlers.map(async (handler) => {
      const upstream = await startFakeUpstream();
      upstream.respondWith(handler, { at });
      return upstream;
    }),
  );
  const gateway = await startGatewayProcess({ config: toConfig(upstreams) });
  const startedMs = performance.now();
  try {
    const report = await runLoad(t, {
      port: gateway.port,
      requests: questions.map((question) => toRequest(gateway, question)),
      connections: clients,
      maxMs: loadMs[scale],
    });
    const seconds = (performance.now() - startedMs) / 1_000;
    return { seconds, report, journals: upstreams.map(({ requests }) => requests) };
  } finally {
    await gateway.stop();
    await Promise.all(upstreams.map((upstream) => upstream.close()));
  }
}

function toRequest({ key }: GatewayProcess, { path, body, once }: Question): Buffer {
  const headers = [['x-api-key', key] as const, ...(once ? [[onceHeader, 'yes'] as const] : [])];
  return toRequestBytes({ path, headers, body });
}

function toConfig(upstreams: readonly FakeUpstream[]): Readonly<Record<string, unknown>> {
  const ids = upstreams.map((_, index) => `up-${index}`);
  const targetsOf = (model: string): object[] => ids.map((upstream) => ({ upstream, model }));
  return {
    upstreams: upstreams.map(({ url }, index) => ({
      id: ids[index],
      family: 'openai',
      base_url: url,
      api_key: 'sk-upstream-key',
      forward_headers: [onceHeader],
    })),
    models: [
      // Two targets on each upstream: a repetition may go to the same one, too.
      { id: 'embed', operations: ['embeddings'], space: 's', targets: [...targetsOf('e'), ...targetsOf('f')] },
      { id: 'safe', operations: ['completions', 'edits'], targets: targetsOf('s') },
      { id: 'always', operations: ['completions'], retry: 'always', targets: targetsOf('a') },
    ],
  };
}

/** Over all, and for each upstream, as the bucket is one of each. */
function withinBudget(name: string, { seconds, report, journals }: Trial): Figure[] {
  const first = firstsOf(journals);
  const buckets = journals.map((journal) => {
    const requests = journal.filter((entry) => first.get(idOf(entry)) === entry).length;
    return {
      dispatches: journal.length,
      limit: Math.floor((1 + perRequest) * requests + perSecond * seconds + stored),
    };
  });
  const sum = (count: (bucket: (typeof buckets)[number]) => number): number =>
    buckets.reduce((total, bucket) => total + count(bucket), 0);
  const over = buckets.filter(({ dispatches, limit }) => dispatches > limit);
  return [
    atMost(
      `${name}: dispatches of ${report.sent} requests in ${seconds.toFixed(1)} s to ${journals.length} upstreams`,
      sum(({ dispatches }) => dispatches),
      sum(({ limit }) => limit),
    ),
    none(
      `${name}: upstreams beyond their own bucket`,
      over.map(({ dispatches, limit }) => `${dispatches} of ${limit}`),
    ),
  ];
}

/** What came of each exchange first, wherever it went. */
function firstsOf(journals: readonly (readonly UpstreamRequest[])[]): ReadonlyMap<string, UpstreamRequest> {
  const first = new Map<string, UpstreamRequest>();
  for (const entry of journals.flat().toSorted((a, b) => a.receivedAtMs - b.receivedAtMs)) {
    if (!first.has(idOf(entry))) first.set(idOf(entry), entry);
  }
  return first;
}

/** Exchanges that went upstream more than once, of the routes and models where one time is all there may be. */
function sentTwice({ journals }: Trial): string[] {
  const byId = Map.groupBy(
    journals.flat().filter((entry) => entry.header(onceHeader) !== undefined),
    idOf,
  );
  return [...byId].flatMap(([id, entries]) =>
    entries.length < 2 ? [] : [`${id}, ${entries.length} times to ${entries[0]?.path}`],
  );
}

/** The exchange's own, the same at every attempt. */
function idOf(entry: UpstreamRequest): string {
  const id = entry.header('x-request-id');
  if (id === undefined) throw new Error('a call came without x-request-id');
  return id;
}
