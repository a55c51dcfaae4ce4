/** Files, which the upstream keeps that the operator names for a project: made, listed, fetched and deleted. They cost nothing. */

import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { noCaps } from '../../core/caps.ts';
import type { Course } from '../../core/dispatch.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Exchange } from '../../core/exchange.ts';
import type { KeyRecord } from '../../core/key.ts';
import type { ObjectRoute } from '../../core/object-route.ts';
import type { Answer } from '../../core/outcome.ts';
import { noQuery, type Query, queryOf, readQuery } from '../../core/query.ts';
import type { Credential, Model, ResolvedModel, Target, Upstream } from '../../core/snapshot.ts';
import { isKeptId, type KeptObject, type KeptObjectStore } from '../../core/store/kept-objects.ts';
import type { Upload } from '../../core/upload.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import type { ServerAnswer } from '../../wire/server-answer.ts';
import type { ServerRequest } from '../../wire/server-request.ts';
import { HeldAnswer } from '../answers/held-answer.ts';
import { WholeMadeAnswer } from '../answers/made-answer.ts';
import { relay } from '../answers/relay.ts';
import { attempt } from '../calls/attempt.ts';
import type { Plan } from '../calls/plan.ts';
import { ownHeaders } from '../own-headers.ts';
import type { PipelineDeps } from '../pipeline.ts';
import { Settling } from '../usage/settling.ts';
import { forNothing, noQuestion, notFound, type ObjectPipeline, openWith, planAbout } from './by-id.ts';
import { checkFileForm } from './file-form.ts';
import { placeOfObject } from './placing.ts';
import { inTime, ownerOf } from './registry.ts';

type Deps = Omit<PipelineDeps, 'routes' | 'checkModel'> & {
  readonly files: Pick<KeptObjectStore, 'page'>;
};

/** Where it goes, and by which key. */
interface Destination {
  readonly course: Course;
  readonly credential: Credential;
  readonly resolved: ResolvedModel;
}

interface Asked {
  readonly exchange: Exchange;
  readonly key: KeyRecord;
  readonly upstream: Upstream;
  readonly query: Query;
  readonly settling: Settling;
  readonly request: ServerRequest;
}

interface Answered {
  readonly answer: Answer;
  readonly headers: readonly string[];
}

const standardPage = 1_000;
const longestPage = 10_000;
/** In characters; what is said of a file is far shorter. */
const longestDocument = 16_384;
/** Read from the store at a time. */
const rowsAtOnce = 500;

export function createFilePipeline(deps: Deps): ObjectPipeline {
  const { admit, checkPressure, spending, objects, readBody, files } = deps;

  async function ask(
    exchange: Exchange,
    about: ObjectRoute,
    id: string,
    request: ServerRequest,
    response: ServerAnswer,
    settling: Settling,
  ): Promise<Answered> {
    const key = await admit(exchange, about.route, request);
    exchange.key = key;
    checkPressure(exchange);
    settling.began(spending.begin(key));
    const upstream = upstreamOf(exchange, key);
    const asked = {
      exchange,
      key,
      upstream,
      query: readQuery(queryOf(request.target), about.query),
      settling,
      request,
    };
    switch (about.action) {
      case 'make':
        return make(asked, about, await readBody(exchange, about.route, request, response));
      case 'list':
        return list(asked);
      case 'about':
        return askAbout(asked, about, id);
    }
  }

  async function make(asked: Asked, about: ObjectRoute, upload: Buffer | Upload): Promise<Answered> {
    if (Buffer.isBuffer(upload)) throw new TypeError('a file comes as a form');
    asked.exchange.upload = upload;
    checkFileForm(upload.parts);
    const credential = asked.upstream.credentials.find(({ weight }) => weight > 0);
    if (credential === undefined) throw new GatewayError('no_upstream_available');
    const call = { method: about.method, behind: '', query: noQuery, body: upload.body };
    return send(asked, about, { ...courseTo(asked.upstream), credential }, call);
  }

  async function askAbout(asked: Asked, about: ObjectRoute, id: string): Promise<Answered> {
    const object = await findOwn(asked, id);
    const place = placeOfObject(object, asked.exchange.snapshot);
    if (place === undefined || place.upstream.filesPath === undefined) throw notFound(about);
    const call = { method: about.method, behind: `/${encodeURIComponent(id)}${about.tail}`, query: noQuery };
    const answered = await send(asked, about, { ...courseTo(place.upstream), credential: place.credential }, call);
    if (about.forgets && answered.answer.status < 300) await objects.forget(object);
    return answered;
  }

  async function findOwn({ key }: Asked, id: string): Promise<KeptObject> {
    const owner = ownerOf(key);
    const found = await objects.find([{ kind: 'file', id }], owner);
    const own = found.find((object) => object.owner === owner);
    if (own === undefined) throw notFound({ kind: 'file' });
    return own;
  }

  async function send(
    { exchange, settling, request }: Asked,
    { route, keeps }: ObjectRoute,
    { course, credential, resolved }: Destination,
    about: NonNullable<Plan['about']>,
  ): Promise<Answered> {
    const reservation = await openWith(deps, exchange, course, forNothing, settling);
    const sent = { exchange, route, clientHeaders: request.fields, resolved, course, credential, reservation };
    const plan = planAbout(sent, about, about.body === undefined ? undefined : keeps);
    const attempted = await attempt(plan, deps);
    const answer = about.body === undefined ? attempted : await recordFile(exchange, attempted);
    return { answer, headers: ownHeaders(exchange, answer, resolved, noQuestion, reservation) };
  }

  /** With what is said of it, by which it is listed. */
  async function recordFile(exchange: Exchange, answer: Answer): Promise<Answer> {
    const { key, target, credential } = exchange;
    if (answer.status >= 300 || key === undefined || target === undefined || credential === undefined) return answer;
    const held = new HeldAnswer(answer);
    exchange.client.work = { clientLeft: () => held.cancel() };
    const document = (await held.beginning).toString();
    const id = held.ended ? idIn(document) : undefined;
    if (id === undefined) return held;
    const lies = { owner: ownerOf(key), upstream: target.upstream.id, credential: credential.fingerprint };
    const createdAtMs = deps.clock.nowMs();
    const said = document.length <= longestDocument ? document : undefined;
    await objects.record([{ kind: 'file', id, ...lies, model: '', createdAtMs, document: said }]);
    return held;
  }

  /** From the store alone: the upstream would list those of everybody. */
  async function list(asked: Asked): Promise<Answered> {
    const { exchange, upstream, query, settling } = asked;
    const { course, resolved } = courseTo(upstream);
    const after = query.get('after');
    const cursor = after === undefined ? undefined : await findOwn(asked, after);
    const reservation = await openWith(deps, exchange, course, forNothing, settling);
    const body = Buffer.from(await writeList(asked, cursor));
    const nowMs = performance.now();
    const answer = new WholeMadeAnswer({
      status: 200,
      statusText: 'OK',
      headers: [],
      sentAtMs: nowMs,
      firstByteAtMs: nowMs,
      body,
      translated: undefined,
    });
    return { answer, headers: ownHeaders(exchange, answer, resolved, noQuestion, reservation) };
  }

  async function writeList({ key, query }: Asked, cursor: KeptObject | undefined): Promise<string> {
    const order = query.get('order') === 'asc' ? 'asc' : 'desc';
    const purpose = query.get('purpose');
    const limit = Math.min(Math.max(Number(query.get('limit') ?? standardPage), 1), longestPage);
    const documents: { readonly id: string; readonly text: string }[] = [];
    let after = cursor;
    for (;;) {
      const what = 'The files cannot be looked up just now';
      const rows = await inTime(files.page(ownerOf(key), 'file', { order, after, limit: rowsAtOnce }), what);
      for (const { id, document } of rows) {
        if (document !== undefined && isListed(document, purpose)) documents.push({ id, text: document });
        if (documents.length > limit) break;
      }
      after = rows.at(-1);
      if (rows.length < rowsAtOnce || documents.length > limit) break;
    }
    const shown = documents.slice(0, limit);
    const [first, last] = [shown[0]?.id ?? null, shown.at(-1)?.id ?? null];
    const ends = `"first_id":${JSON.stringify(first)},"last_id":${JSON.stringify(last)}`;
    const data = shown.map(({ text }) => text).join(',');
    return `{"object":"list","data":[${data}],${ends},"has_more":${documents.length > limit}}`;
  }

  return async (exchange, route, id, request, response) => {
    const settling = new Settling(exchange, deps);
    try {
      const { answer, headers } = await ask(exchange, route, id, request, response, settling);
      await relay(exchange, answer, response, headers, settling);
    } catch (error) {
      await settling.failed(error);
      throw error;
    }
  };
}

/** The one that the operator names for the key's project; where there is none, there are no such paths. */
function upstreamOf({ snapshot }: Exchange, { project }: KeyRecord): Upstream {
  const named = project === undefined ? undefined : snapshot.projects.get(project)?.files;
  const upstream = named === undefined ? undefined : snapshot.upstreams.get(named);
  if (upstream?.filesPath === undefined) throw new GatewayError('route_not_found');
  return upstream;
}

function idIn(document: string): string | undefined {
  try {
    const said: unknown = JSON.parse(document);
    return isMapping(said) && typeof said.id === 'string' && isKeptId(said.id) ? said.id : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** What the upstream would not list any more is left out. */
function isListed(document: string, purpose: string | undefined): boolean {
  const said: unknown = JSON.parse(document);
  if (!isMapping(said)) return false;
  const isOver = typeof said.expires_at === 'number' && said.expires_at * 1_000 < Date.now();
  return !isOver && (purpose === undefined || said.purpose === purpose);
}

type Way = Pick<Destination, 'course' | 'resolved'>;

const ways = new WeakMap<Upstream, Way>();

/** As if a model were served there that is nothing but its files. */
function courseTo(upstream: Upstream): Way {
  const known = ways.get(upstream);
  if (known !== undefined) return known;
  const target: Target = {
    upstream,
    model: '',
    priority: 0,
    weight: 1,
    price: undefined,
    bridge: undefined,
    offers: new Map(),
    unsupported: undefined,
    tokenIds: 'pass',
    defaults: {},
  };
  const model: Model = {
    id: '',
    aliases: [],
    operations: [],
    visible: false,
    space: undefined,
    acceptsMessages: false,
    asksUsage: false,
    balance: 'weighted',
    retry: { scope: 'safe', attempts: 1 },
    hedge: undefined,
    caps: noCaps,
    targets: [target],
  };
  const candidate = { target, offer: { path: upstream.filesPath ?? '' }, lifted: false };
  const { totalMs } = upstream.timeouts.responses;
  const way: Way = {
    course: { model, tiers: [[candidate]], totalMs, alone: true, replayable: false },
    resolved: { model, id: '', matched: '' },
  };
  ways.set(upstream, way);
  return way;
}
