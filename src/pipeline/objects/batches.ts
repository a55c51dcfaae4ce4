/** Serves the batch API: creates batches from validated files, shows, lists and cancels them. */

import { Buffer } from 'node:buffer';
import { HeldAnswer } from '../../answers/held-answer.ts';
import { ownLines } from '../../answers/own-headers.ts';
import type { Answered } from '../../answers/relay.ts';
import { forNothing } from '../../core/accounting/price.ts';
import { unfitField } from '../../core/client-api.ts';
import type { RoutePlan } from '../../core/dispatch.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Exchange } from '../../core/exchange.ts';
import type { KeyRecord } from '../../core/key.ts';
import type { ObjectRoute } from '../../core/object-route.ts';
import type { Answer, Listening } from '../../core/outcome.ts';
import { noQuery } from '../../core/query.ts';
import type { Route } from '../../core/route.ts';
import type { ResolvedModel, Upstream } from '../../core/snapshot.ts';
import type { BatchInput, StoredObject, StoredObjectStore } from '../../core/store/stored-objects.ts';
import type { Upload } from '../../core/upload.ts';
import { textOf } from '../../lib/json/json-scan.ts';
import { modelNotAllowed, notSupported, unknownModel } from '../../plan/find-model.ts';
import { notStored } from '../../plan/named-objects.ts';
import { nameAt } from '../../plan/planned-call.ts';
import { routePlanOf } from '../../plan/route-plan.ts';
import { attempt } from '../calls/attempt.ts';
import type { PipelineDeps } from '../pipeline.ts';
import type { Batches } from './batch-polling.ts';
import { noQuestion, notFound, type ObjectPipeline, openWith, planAbout } from './by-id.ts';
import { compileFields, needed, readFields } from './known-fields.ts';
import { locationOfObject, type ObjectLocation, routePlanAt } from './object-location.ts';
import { inTime, ownerOf } from './object-registry.ts';
import {
  type AskedThere,
  answerList,
  pipelineOf,
  recordOutputs,
  saidIn,
  toDocument,
  type Way,
  wayTo,
} from './object-service.ts';

import { callForOurselves, type OwnCallDeps } from './own-call.ts';

type Deps = Omit<PipelineDeps, 'routes' | 'background'> &
  Pick<OwnCallDeps, 'installation'> & {
    readonly stored: Pick<StoredObjectStore, 'page' | 'describe'>;
    readonly batches: Pick<Batches, 'begin' | 'takeOver'>;
    readonly lineRoutes: ReadonlyMap<string, Route>;
    readonly batchRoutes: ReadonlyMap<string, Route>;
  };

/** The batch that a client requests: a file, and the path of its lines. */
interface Wanted {
  readonly fileId: string;
  readonly endpoint: string;
}

const known = compileFields(['input_file_id', 'endpoint', 'completion_window', 'metadata', 'output_expires_after']);
const longestTextBytes = 1_024;
const pages = { standard: 20, most: 100 };

export function createBatchPipeline(deps: Deps): ObjectPipeline {
  const { objects, stored, batches, lineRoutes, batchRoutes, clock } = deps;

  async function make(asked: AskedThere, about: ObjectRoute, body: Buffer | Upload): Promise<Answered> {
    if (!Buffer.isBuffer(body)) throw new TypeError('a batch is asked for in JSON');
    const { exchange, key, settling, request } = asked;
    const { fileId, endpoint } = await readWanted(body);
    const file = await objects.findOwn({ kind: 'file', id: fileId }, ownerOf(key));
    const location = file && locationOfObject(file, exchange.snapshot);
    if (file === undefined || location?.upstream.batchesPath === undefined) throw notStored('input_file_id');
    if (file.input === undefined) throw notForBatches();
    const line = lineRoutes.get(endpoint);
    const route = batchRoutes.get(file.input.estimate.batch.path);
    if (line === undefined || route === undefined || line.path !== file.input.estimate.batch.path) {
      throw wrongEndpoint(file.input);
    }
    exchange.lane = 'bulk';
    const { resolved, routePlan } = routePlanFor(asked, file.input, line, location);
    // The sums of the ledger have one operation for each path and model: without a model, that of the path.
    exchange.route = route;
    exchange.modelId = resolved.id;
    if (exchange.client.gone) throw new GatewayError('client_closed');
    const reservation = await openWith(deps, exchange, routePlan, file.input.estimate, settling);
    const sent = { exchange, route, clientHeaders: request.fields, resolved, routePlan, reservation };
    const call = { method: about.method, behind: '', query: noQuery, body };
    const plan = planAbout({ ...sent, credential: location.credential }, call, about.records);
    const answer = await attempt({ ...plan, client: nobody() }, deps);
    const passing = await follow(exchange, answer);
    return { answer: passing, lines: ownLines(exchange, passing, resolved, noQuestion, reservation) };
  }

  /** The plan by the present key and configuration, which may have changed since the file's upload. */
  function routePlanFor(
    { exchange, key }: AskedThere,
    { model, upstreamModel }: BatchInput,
    line: Route,
    location: ObjectLocation,
  ): { readonly resolved: ResolvedModel; readonly routePlan: RoutePlan } {
    deps.checkOperation(key, line.operation);
    const resolved = exchange.snapshot.models.resolve(model);
    if (resolved === undefined || (line.row.visibleModelsOnly && !resolved.model.visible)) throw unknownModel(model);
    if (!deps.mayUseModel(key, resolved.id)) throw modelNotAllowed(model, exchange.snapshot);
    if (!resolved.model.operations.includes(line.operation)) throw notSupported(resolved.id, line);
    const { routePlan, credential } = routePlanAt(routePlanOf(resolved, line), location, resolved.id);
    const candidate = routePlan.tiers.flat().find(({ target }) => nameAt(target, resolved) === upstreamModel);
    if (credential === undefined || candidate === undefined) throw servedOtherwise(resolved.id);
    const offer = { path: location.upstream.batchesPath ?? '' };
    const tiers = [[{ target: candidate.target, offer, lifted: false }]];
    return { resolved, routePlan: { ...routePlan, tiers, alone: true, replayable: false } };
  }

  /** Begins to poll a created batch, whether its client is still connected or not; one that cannot be polled is cancelled. */
  async function follow(exchange: Exchange, answer: Answer): Promise<Answer> {
    const { key, target, credential, modelId = '' } = exchange;
    const { status, meantStatus = status } = answer;
    if (meantStatus >= 300 || key === undefined || target === undefined || credential === undefined) return answer;
    const held = new HeldAnswer(answer);
    exchange.client.work = undefined;
    const text = (await held.beginning).toString();
    const said = held.ended ? saidIn(text) : undefined;
    if (said === undefined) throw new GatewayError('upstream_protocol_error');
    const { upstream } = target;
    try {
      const lies = { owner: ownerOf(key), upstream: upstream.id, credential: credential.fingerprint, model: modelId };
      const createdAtMs = clock.nowMs();
      await objects.record([{ kind: 'batch', id: said.id, ...lies, createdAtMs, document: toDocument(text) }]);
      await batches.begin(exchange, said.id);
    } catch (error) {
      await end(exchange, { upstream, credential }, said.id);
      throw error;
    }
    exchange.goesOn = true;
    return held;
  }

  async function end({ id: requestId, route }: Exchange, location: ObjectLocation, id: string): Promise<void> {
    const offer = { path: location.upstream.batchesPath ?? '' };
    const behind = `/${encodeURIComponent(id)}/cancel`;
    const call = { method: 'POST', offer, behind, requestId, operation: route?.operation ?? 'chat' } as const;
    const { installation, transports } = deps;
    (await callForOurselves(call, location, { installation, transport: transports.http }))?.cancel();
  }

  async function askAbout(asked: AskedThere, about: ObjectRoute, id: string): Promise<Answered> {
    const { exchange, key, settling, request } = asked;
    const object = await findSeen(asked, id);
    const location = locationOfObject(object, exchange.snapshot);
    if (location === undefined || location.upstream.batchesPath === undefined) throw notFound(about);
    exchange.modelId = object.model;
    const { routePlan, resolved } = batchesOf(location.upstream);
    const reservation = await openWith(deps, exchange, routePlan, forNothing, settling);
    const { route, records, method, tail } = about;
    const { credential } = location;
    const sent = { exchange, route, clientHeaders: request.fields, resolved, routePlan, credential, reservation };
    const plan = planAbout(sent, { method, behind: `/${encodeURIComponent(id)}${tail}`, query: noQuery }, records);
    const answer = await withState(object, key, exchange, await attempt(plan, deps));
    return { answer, lines: ownLines(exchange, answer, resolved, noQuestion, reservation) };
  }

  /** Answers with a batch's state; its output files are recorded before the client sees their IDs. */
  async function withState(object: StoredObject, key: KeyRecord, exchange: Exchange, answer: Answer): Promise<Answer> {
    if ((answer.meantStatus ?? answer.status) >= 300) return answer;
    const held = new HeldAnswer(answer);
    exchange.client.work = { clientLeft: () => held.cancel() };
    const text = (await held.beginning).toString();
    const said = held.ended ? saidIn(text) : undefined;
    if (said === undefined || said.id !== object.id) throw new GatewayError('upstream_protocol_error');
    await recordOutputs(said, { ...object, owner: ownerOf(key) }, objects, clock);
    const document = toDocument(text);
    if (document !== undefined && document !== object.document) {
      await inTime(
        stored.describe(object, document),
        'What the upstream says of this batch cannot be written down just now',
      );
    }
    return held;
  }

  async function list(asked: AskedThere): Promise<Answered> {
    const { exchange, key, upstream, query, settling } = asked;
    const { routePlan, resolved } = batchesOf(upstream);
    const cursor = query.get('after');
    const after = cursor === undefined ? undefined : await findSeen(asked, cursor);
    const reservation = await openWith(deps, exchange, routePlan, forNothing, settling);
    const isShown = (object: StoredObject): boolean => deps.mayUseModel(key, object.model);
    const answer = await answerList(stored, {
      kind: 'batch',
      owner: ownerOf(key),
      isShown,
      query,
      after,
      limit: pages,
    });
    return { answer, lines: ownLines(exchange, answer, resolved, noQuestion, reservation) };
  }

  /** Finds a batch that the key may see: one whose model the key may not use does not exist for it. */
  async function findSeen({ key, exchange }: AskedThere, id: string): Promise<StoredObject> {
    const object = await objects.findOwn({ kind: 'batch', id }, ownerOf(key));
    const isThere = object !== undefined && exchange.snapshot.models.resolve(object.model) !== undefined;
    if (!isThere || !deps.mayUseModel(key, object.model)) throw notFound({ kind: 'batch' });
    return object;
  }

  return pipelineOf(
    { ...deps, background: batches },
    {
      check({ upstream }) {
        if (upstream.batchesPath === undefined) throw new GatewayError('route_not_found');
      },
      make,
      list,
      askAbout,
    },
  );
}

const batchesOf = (upstream: Upstream): Way => wayTo(upstream, upstream.batchesPath ?? '');

/** A client that never leaves, for a request that must not be cancelled: a created batch must be polled. */
const nobody = (): Listening => ({ gone: false, work: undefined });

async function readWanted(body: Buffer): Promise<Wanted> {
  const fields = await readFields(body, known);
  const text = (name: string, wanted: string): string => {
    const field = needed(fields, name, wanted);
    if (field.kind === 'string' && field.end - field.start <= longestTextBytes) return textOf(body, field);
    throw unfitField(name, wanted);
  };
  text('completion_window', 'a string such as "24h"');
  return {
    fileId: text('input_file_id', 'the ID of a file that was sent with the purpose "batch"'),
    endpoint: text('endpoint', 'the "url" of the lines of its file'),
  };
}

function notForBatches(): GatewayError {
  return new GatewayError('unsupported_parameter', {
    param: 'input_file_id',
    message: 'The file was not sent as the input of a batch; send it again, with the purpose "batch".',
  });
}

function wrongEndpoint({ estimate: { batch } }: BatchInput): GatewayError {
  return new GatewayError('unsupported_parameter', {
    param: 'endpoint',
    message: `The lines of the file ask at "${batch.path}"; name that.`,
  });
}

function servedOtherwise(modelId: string): GatewayError {
  return new GatewayError('unsupported_parameter', {
    param: 'input_file_id',
    message: `The model ${JSON.stringify(modelId)} is served otherwise since the file came; send it again.`,
  });
}
