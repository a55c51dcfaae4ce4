/** Promise 9: a response that ends, is reset or stalls at any byte arrives visibly incomplete. */

import type { TestContext } from 'node:test';
import { type AnswerBeginning, readBeginning } from '../support/clients/answer-beginning.ts';
import { type HeaderField, lastChunk, toChunk, toHead } from '../support/clients/http-message.ts';
import { type RawResponse, request } from '../support/clients/raw-client.ts';
import { startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { patiently, patientMs } from '../support/time/patience.ts';
import { type FakeUpstream, type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { atMost, type ChaosRig, definePromise } from './promise.ts';
import { type ChaosProxy, startChaosProxy } from './support/disturbances/chaos-proxy.ts';
import { createRandom } from './support/random.ts';
import { type AccessLine, readAccessLog } from './support/readings/access-log.ts';
import { createViolations } from './support/readings/findings.ts';

type Ending = 'cut' | 'reset' | 'stall';

interface Case {
  readonly id: string;
  readonly kind: string;
  readonly how: Ending;
  readonly afterBytes: number;
}

/** A lane is an upstream behind a proxy of its own, which ends the next answer as instructed. */
interface Lanes {
  readonly count: number;
  readonly endings: readonly Ending[];
  readonly timeouts: Readonly<Record<string, string>>;
}

/** Silence takes as long as the gateway has patience, so there is much of it at once; what breaks needs no patience at all. */
const breaking: Lanes = { count: 24, endings: ['cut', 'reset'], timeouts: { first_byte: '60s', idle: '60s' } };
const falling: Lanes = {
  count: 400,
  endings: ['stall'],
  timeouts: { first_byte: patiently(750), idle: patiently(750) },
};
const answerBytes = 2048;
/** In the short form, of each kind and ending: enough to meet every part of a message. */
const sampledStops = 24;

const embedding = Array.from({ length: 400 }, (_, i) => `0.${(i * 7919).toString().padStart(6, '0')}`).join(',');
const data = `{"object":"list","data":[{"index":0,"embedding":[${embedding.slice(0, 1500)}0]}],"usage":{"prompt_tokens":5,"total_tokens":5}}`;
const events = Array.from(
  { length: 25 },
  (_, i) => `data: {"id":"c","choices":[{"text":"word ${i} é😀","index":0}]}\n\n`,
);
const pieces = data.match(/.{1,97}/g) ?? [];

const json: HeaderField = ['Content-Type', 'application/json'];
const eventStream: HeaderField = ['Content-Type', 'text/event-stream'];
const chunked: HeaderField = ['Transfer-Encoding', 'chunked'];
const chunks = (parts: readonly string[]): Buffer => Buffer.concat(parts.map((part) => toChunk(Buffer.from(part))));

const answers: ReadonlyMap<string, Buffer> = new Map([
  ['length', padded(Buffer.from(data), json, ['Content-Length', String(data.length)])],
  ['chunked', padded(Buffer.concat([chunks(pieces), lastChunk]), json, chunked)],
  ['sse', padded(Buffer.concat([chunks([...events, 'data: [DONE]\n\n']), lastChunk]), eventStream, chunked)],
]);

/** Makes all of them the same size. */
function padded(body: Buffer, ...headers: readonly HeaderField[]): Buffer {
  const head = (filler: string): Buffer => toHead('HTTP/1.1 200 Fine', [...headers, ['X-Filler', filler]]);
  return Buffer.concat([head('.'.repeat(answerBytes - body.length - head('').length)), body]);
}

export default definePromise({
  no: 9,
  title: 'an upstream answer ends, is reset or stalls at every byte',
  async run(rig) {
    const { t } = rig;
    const upstream = await startFakeUpstream(answerInKind);
    t.after(() => upstream.close());
    const lanes = await Promise.all([breaking, falling].flatMap((kind) => openLanes(t, kind, upstream.port)));
    const gateway = await startGatewayProcess({ config: toDocument(lanes) });
    t.after(() => gateway.stop());

    const seen = await askAll(rig, toCases(rig), lanes, gateway);
    const log = await readAccessLog(gateway);

    const wrongBytes = createViolations('answers that are no exact beginning of the one sent');
    const lookComplete = createViolations('broken answers that look complete');
    const outcomes = createViolations('requests without exactly one outcome in the log');
    const stories = createViolations('outcomes that differ from what the client saw');
    for (const [at, answer] of seen) {
      const whole = answers.get(at.kind) ?? Buffer.alloc(0);
      const sent = readBeginning(whole.subarray(0, at.afterBytes));
      const description = `${at.id}: ${answer.statusLine || 'no answer'}, ${answer.body.length} bytes, ${answer.closed}`;
      if (!isBeginning(at, sent, answer)) wrongBytes.add(description);
      if (answer.status === 200 && answer.complete && !sent.complete) lookComplete.add(description);
      const [line, ...more] = log.of(at.id);
      if (line === undefined || more.length > 0)
        outcomes.add(`${at.id}: ${more.length + (line === undefined ? 0 : 1)}`);
      else if (!agreesWith(line, answer)) stories.add(`${description}; logged ${JSON.stringify(line)}`);
    }
    return [
      wrongBytes.outOf(seen.size),
      lookComplete.outOf(seen.size),
      outcomes.outOf(seen.size),
      stories.outOf(seen.size),
      unknownCalls(upstream, log.ofExchange),
      atMost('crashes', log.crashed ? 1 : 0, 0),
    ];
  },
});

const answerInKind: Handler = async ({ body }, reply) => {
  for (const [kind, bytes] of answers) {
    if (body.includes(`"${kind}"`)) await reply.raw(bytes);
  }
};

interface Lane {
  readonly name: string;
  readonly kind: Lanes;
  readonly proxy: ChaosProxy;
}

function openLanes(t: TestContext, kind: Lanes, port: number): Promise<Lane>[] {
  return Array.from({ length: kind.count }, async (_, i) => ({
    name: `${kind.endings[0]}-${i}`,
    kind,
    proxy: await startChaosProxy(t, port),
  }));
}

function toDocument(lanes: readonly Lane[]): Readonly<Record<string, unknown>> {
  return {
    upstreams: lanes.map(({ name, kind, proxy }) => ({
      id: name,
      family: 'openai',
      base_url: proxy.url,
      api_key: 'sk-0123456789abcdef',
      timeouts: kind.timeouts,
      // A busy machine takes long enough for the gateway to ask by itself.
      model_list: 'ignore',
    })),
    models: lanes.map(({ name }) => ({ id: name, targets: [{ upstream: name }] })),
  };
}

/** In random order, so that nothing hangs on its neighbours; whole answers last, because they leave a connection behind. */
function toCases({ scale, seed }: ChaosRig): Case[] {
  const random = createRandom(seed);
  const cases: (Case & { readonly rank: number })[] = [];
  for (const [kind, bytes] of answers) {
    for (const how of ['cut', 'reset', 'stall'] as const) {
      const headEnd = bytes.indexOf('\r\n\r\n') + 4;
      const edges = new Set([
        0,
        1,
        headEnd - 1,
        headEnd,
        headEnd + 1,
        bytes.length - 2,
        bytes.length - 1,
        bytes.length,
      ]);
      for (let afterBytes = 0; afterBytes <= bytes.length; afterBytes += 1) {
        const wanted = scale === 'long' || edges.has(afterBytes) || random() < sampledStops / bytes.length;
        if (!wanted) continue;
        const rank = afterBytes === bytes.length ? 1 : random();
        cases.push({ id: `${kind}-${how}-${afterBytes}`, kind, how, afterBytes, rank });
      }
    }
  }
  return cases.sort((a, b) => a.rank - b.rank);
}

async function askAll(
  { progress }: ChaosRig,
  cases: readonly Case[],
  lanes: readonly Lane[],
  gateway: Listening,
): Promise<Map<Case, RawResponse>> {
  const seen = new Map<Case, RawResponse>();
  const left = new Map(
    [breaking, falling].map((kind) => [kind, cases.filter(({ how }) => kind.endings.includes(how))]),
  );
  const work = async (lane: Lane): Promise<void> => {
    for (let at = left.get(lane.kind)?.shift(); at !== undefined; at = left.get(lane.kind)?.shift()) {
      lane.proxy.behave({ toClient: { ends: at.how, afterBytes: at.afterBytes } });
      seen.set(at, await ask(gateway, lane.name, at));
      progress(`${seen.size} of ${cases.length} answers`);
      // The next call on this connection would meet its end, not the one meant for it.
      if (at.afterBytes === answerBytes) return;
    }
  };
  await Promise.all(lanes.map(work));
  if (seen.size < cases.length) throw new Error(`${cases.length - seen.size} cases were not asked`);
  return seen;
}

interface Listening {
  readonly port: number;
  readonly key: string;
}

function ask({ port, key }: Listening, model: string, { id, kind }: Case): Promise<RawResponse> {
  const isStream = kind === 'sse';
  return request({
    port,
    path: isStream ? '/v1/completions' : '/v1/embeddings',
    headers: [
      ['Authorization', `Bearer ${key}`],
      ['X-Request-Id', id],
    ],
    body: isStream ? { model, prompt: kind, stream: true } : { model, input: kind },
    timeoutMs: patientMs(7_500),
  });
}

/** Before the head is whole there is nothing to pass on: the answer is an error of the gateway, and whole. */
function isBeginning({ how }: Case, sent: AnswerBeginning, { status, body, complete }: RawResponse): boolean {
  const isOwnError = status === (how === 'stall' ? 504 : 502) && complete;
  // A reset may overtake the bytes before it.
  if (how === 'reset') {
    return isOwnError || (status === 200 && sent.headComplete && sent.body.subarray(0, body.length).equals(body));
  }
  return sent.headComplete ? status === 200 && body.equals(sent.body) : isOwnError;
}

function agreesWith(line: AccessLine, { status, body, complete }: RawResponse): boolean {
  const isCut = status === 200 && !complete;
  const isFailed = status !== 200 || isCut;
  return (
    line.status === status &&
    line.cut === (isCut ? true : undefined) &&
    (line.error !== undefined) === isFailed &&
    line.error !== 'internal_error' &&
    line.client_gone === undefined &&
    line.response_bytes === body.length
  );
}

/** The upstream's journal against the log: whatever was sent on belongs to an outcome. */
function unknownCalls(upstream: FakeUpstream, ofExchange: (id: string) => readonly AccessLine[]) {
  const unknown = createViolations('calls in the journal of the upstream without an outcome in the log');
  for (const call of upstream.requests) {
    const id = call.header('x-request-id') ?? 'no ID';
    if (ofExchange(id).length !== 1) unknown.add(id);
  }
  return unknown.outOf(upstream.requests.length);
}
