/** Shared parts of the files and batches API: finds the upstream that the operator names for a project, and answers lists. */

import { Buffer } from 'node:buffer';
import { WholeMadeAnswer } from '../../answers/made-answer.ts';
import { type Answered, relay } from '../../answers/relay.ts';
import { Settling, type SettlingDeps } from '../../answers/settling.ts';
import { noCaps } from '../../core/caps.ts';
import type { RoutePlan } from '../../core/dispatch.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Exchange } from '../../core/exchange.ts';
import type { KeyRecord } from '../../core/key.ts';
import type { ObjectRoute } from '../../core/object-route.ts';
import type { Answer } from '../../core/outcome.ts';
import { type Query, queryOf, readQuery } from '../../core/query.ts';
import type { Model, ResolvedModel, Target, Upstream } from '../../core/snapshot.ts';
import {
  isStoredId,
  type ListedKind,
  type StoredObject,
  type StoredObjectStore,
} from '../../core/store/stored-objects.ts';
import type { Upload } from '../../core/upload.ts';
import type { Clock } from '../../lib/clock.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { readJson } from '../../lib/json/read-json.ts';
import type { ServerRequest } from '../../wire/server-request.ts';
import type { PipelineDeps } from '../pipeline.ts';
import type { ObjectPipeline } from './by-id.ts';
import { inTime, type ObjectRegistry } from './object-registry.ts';

/** The upstream that the operator named for the key's project; without one, the API's paths do not exist. */
function upstreamOf({ snapshot }: Exchange, { project }: KeyRecord): Upstream {
  const named = project === undefined ? undefined : snapshot.projects.get(project)?.files;
  const upstream = named === undefined ? undefined : snapshot.upstreams.get(named);
  if (upstream?.filesPath === undefined) throw new GatewayError('route_not_found');
  return upstream;
}

export interface AskedThere {
  readonly exchange: Exchange;
  readonly key: KeyRecord;
  readonly upstream: Upstream;
  readonly query: Query;
  readonly settling: Settling;
  readonly request: ServerRequest;
}

interface ServiceDeps
  extends Pick<PipelineDeps, 'admit' | 'checkPressure' | 'spending' | 'readBody' | 'ledger' | 'bill'> {
  readonly background: SettlingDeps['background'];
}

interface Actions {
  /** Checks the request before its body is read. */
  check?(asked: AskedThere): void;
  make(asked: AskedThere, about: ObjectRoute, body: Buffer | Upload): Promise<Answered>;
  list(asked: AskedThere): Promise<Answered>;
  askAbout(asked: AskedThere, about: ObjectRoute, id: string): Promise<Answered>;
}

export function pipelineOf(deps: ServiceDeps, { check, make, list, askAbout }: Actions): ObjectPipeline {
  const { admit, checkPressure, spending, readBody } = deps;

  return (exchange, about, id, request, response) => {
    const settling = new Settling(exchange, deps);
    async function ask(): Promise<Answered> {
      const key = await admit(exchange, about.route, request);
      exchange.key = key;
      checkPressure(exchange);
      exchange.begun = spending.begin(key);
      const upstream = upstreamOf(exchange, key);
      const query = readQuery(queryOf(request.target), about.query);
      const asked = { exchange, key, upstream, query, settling, request };
      check?.(asked);
      switch (about.action) {
        case 'make':
          return make(asked, about, await readBody(exchange, about.route, request, response));
        case 'list':
          return list(asked);
        case 'about':
          return askAbout(asked, about, id);
      }
    }
    return relay(exchange, ask(), response, settling);
  };
}

/** The JSON document of a file or batch from the upstream, as far as the gateway reads it. */
export type Said = Readonly<Record<string, unknown>> & { readonly id: string };

export function saidIn(document: string): Said | undefined {
  const said = readJson(document);
  return isMapping(said) && typeof said.id === 'string' && isStoredId(said.id) ? { ...said, id: said.id } : undefined;
}

/** Longest document that is stored, in characters; those of files and batches are far shorter. */
const longestDocument = 16_384;

export const toDocument = (said: string): string | undefined => (said.length <= longestDocument ? said : undefined);

export interface Listing {
  readonly kind: ListedKind;
  readonly owner: string;
  isShown(object: StoredObject, said: Said): boolean;
  readonly query: Query;
  readonly after: StoredObject | undefined;
  readonly limit: { readonly standard: number; readonly most: number };
}

const rowsAtOnce = 500;

/** Answers a list from the store only: the upstream's list would include other owners. */
export async function answerList(store: Pick<StoredObjectStore, 'page'>, listing: Listing): Promise<Answer> {
  return new WholeMadeAnswer(undefined, { statusText: 'OK', body: Buffer.from(await writeList(store, listing)) });
}

async function writeList(
  store: Pick<StoredObjectStore, 'page'>,
  { kind, owner, isShown, query, after: cursor, limit: { standard, most } }: Listing,
): Promise<string> {
  const order = query.get('order') === 'asc' ? 'asc' : 'desc';
  const limit = Math.min(Math.max(Number(query.get('limit') ?? standard), 1), most);
  const documents: { readonly id: string; readonly text: string }[] = [];
  let after = cursor;
  for (;;) {
    const what = `What there is of a ${kind} cannot be looked up just now`;
    const rows = await inTime(store.page(owner, kind, { order, after, limit: rowsAtOnce }), what);
    for (const row of rows) {
      const said = row.document === undefined ? undefined : saidIn(row.document);
      if (row.document !== undefined && said !== undefined && isShown(row, said)) {
        documents.push({ id: row.id, text: row.document });
      }
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

export interface Way {
  readonly routePlan: RoutePlan;
  readonly resolved: ResolvedModel;
}

const ways = new WeakMap<Upstream, Map<string, Way>>();

/** Makes a plan for a path of the upstream, as if the path were a model's offer. */
export function wayTo(upstream: Upstream, path: string): Way {
  const byPath = ways.get(upstream) ?? new Map<string, Way>();
  ways.set(upstream, byPath);
  const known = byPath.get(path);
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
    retry: { scope: 'safe', attempts: 1, sameTarget: undefined },
    hedge: undefined,
    caps: noCaps,
    targets: [target],
  };
  const candidate = { target, offer: { path }, lifted: false };
  const { totalMs } = upstream.timeouts.responses;
  const way: Way = {
    routePlan: { model, tiers: [[candidate]], totalMs, alone: true, replayable: false },
    resolved: { model, id: '', matched: '' },
  };
  byPath.set(path, way);
  return way;
}

/** Fields of a batch with the IDs of output files, which belong to the owner of the batch. */
const fields = ['output_file_id', 'error_file_id'] as const;

/** The IDs of a batch's output files, as far as they are known. */
export function outputsIn(said: Said): string[] {
  return fields.flatMap((field) => {
    const id = said[field];
    return typeof id === 'string' && isStoredId(id) ? [id] : [];
  });
}

type Ownership = Pick<StoredObject, 'owner' | 'upstream' | 'credential' | 'model'>;

/** Records a batch's output files, before the client sees their IDs. */
export async function recordOutputs(
  said: Said,
  { owner, upstream, credential, model }: Ownership,
  objects: Pick<ObjectRegistry, 'record'>,
  clock: Pick<Clock, 'nowMs'>,
): Promise<readonly string[]> {
  const ids = outputsIn(said);
  const createdAtMs = clock.nowMs();
  await objects.record(ids.map((id) => ({ kind: 'file', id, owner, upstream, credential, model, createdAtMs })));
  return ids;
}
