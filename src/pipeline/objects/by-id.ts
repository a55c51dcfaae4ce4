/** Serves a request about one stored object: sends it to the upstream that has the object. It is free. */

import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { ownLines } from '../../answers/own-headers.ts';
import { type Answered, relay } from '../../answers/relay.ts';
import { Settling } from '../../answers/settling.ts';
import { forNothing, type RequestEstimate } from '../../core/accounting/price.ts';
import type { Reservation } from '../../core/accounting/spending.ts';
import type { RoutePlan } from '../../core/dispatch.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Exchange } from '../../core/exchange.ts';
import type { KeyRecord } from '../../core/key.ts';
import type { ObjectRoute } from '../../core/object-route.ts';
import { noQuery, type Query, queryOf, readQuery } from '../../core/query.ts';
import type { ResolvedModel } from '../../core/snapshot.ts';
import type { StoredName, StoredObject } from '../../core/store/stored-objects.ts';
import { compileWatchedKeys, scanJson } from '../../lib/json/json-scan.ts';
import type { Plan } from '../../plan/planned-call.ts';
import type { Question } from '../../plan/question.ts';
import { routePlanOf } from '../../plan/route-plan.ts';
import type { ServerAnswer } from '../../wire/server-answer.ts';
import type { ServerRequest } from '../../wire/server-request.ts';
import { attempt } from '../calls/attempt.ts';
import type { PipelineDeps } from '../pipeline.ts';
import type { Background } from './background.ts';
import { locationOfObject, routePlanAt } from './object-location.ts';
import { ownerOf } from './object-registry.ts';
import { recorded } from './recording.ts';

export type ObjectPipeline = (
  exchange: Exchange,
  route: ObjectRoute,
  id: string,
  request: ServerRequest,
  response: ServerAnswer,
) => Promise<void>;

type Deps = Omit<PipelineDeps, 'routes' | 'readBody' | 'background'> & {
  readonly background: Pick<Background, 'begin' | 'takeOver' | 'mayGo'>;
};

export function createObjectPipeline(deps: Deps): ObjectPipeline {
  const { checkPressure, admit, spending, objects } = deps;

  async function ask(
    exchange: Exchange,
    about: ObjectRoute,
    id: string,
    request: ServerRequest,
    settling: Settling,
  ): Promise<Answered> {
    const { route } = about;
    const key = await admit(exchange, route, request);
    exchange.key = key;
    checkPressure(exchange);
    exchange.begun = spending.begin(key);
    const query = readQuery(queryOf(request.target), about.query);
    const { object, resolved } = await find(exchange, key, about, id, query);
    exchange.modelId = resolved.id;
    if (about.forgets && !(await deps.background.mayGo(id, object.upstream))) throw stillMade(about);
    const location = locationOfObject(object, exchange.snapshot);
    if (location === undefined) throw notFound(about);
    const located = routePlanAt(routePlanOf(resolved, about.of), location, resolved.id);
    if (located.credential === undefined) throw notFound(about);
    const estimate = query.get('stream') === 'true' ? forStream : forNothing;
    const reservation = await openWith(deps, exchange, located.routePlan, estimate, settling);
    const called = { method: about.method, behind: `/${encodeURIComponent(id)}${about.tail}`, query };
    const sent = { exchange, route, clientHeaders: request.fields, resolved, ...located, reservation };
    const plan = planAbout(sent, called, about.records);
    const answer = await recorded(plan, await attempt(plan, deps), deps);
    if (about.forgets && answer.status < 300) await objects.forget(object);
    return { answer, lines: ownLines(exchange, answer, resolved, noQuestion, reservation) };
  }

  /** Finds the object; every failure has the same error, and takes one look-up, so that nothing is revealed. */
  async function find(
    { snapshot }: Exchange,
    key: KeyRecord,
    about: ObjectRoute,
    id: string,
    query: Query,
  ): Promise<{ readonly object: StoredObject; readonly resolved: ResolvedModel }> {
    const names: StoredName[] = [{ kind: about.kind, id }];
    for (const [param, kind] of Object.entries(about.named)) {
      const named = query.get(param);
      if (named !== undefined) names.push({ kind, id: named });
    }
    const owner = ownerOf(key);
    const all = await objects.find(names, owner);
    const own = all.filter((object) => object.owner === owner);
    const object = own.find((one) => one.kind === about.kind && one.id === id);
    if (object === undefined) throw notFound(about);
    const isWhole = names.every((name) => own.some((one) => one.kind === name.kind && one.id === name.id));
    const resolved = snapshot.models.resolve(object.model);
    const isServed = resolved?.model.operations.includes(about.route.operation) === true;
    if (!isWhole || resolved === undefined || !isServed || !deps.mayUseModel(key, resolved.id)) throw notFound(about);
    return { object, resolved };
  }

  return (exchange, route, id, request, response) => {
    const settling = new Settling(exchange, deps);
    return relay(exchange, ask(exchange, route, id, request, settling), response, settling);
  };
}

/** Reserves under the limits, and records the start in the ledger. */
export async function openWith(
  { spending, ledger }: Pick<PipelineDeps, 'spending' | 'ledger'>,
  exchange: Exchange,
  routePlan: RoutePlan,
  estimate: RequestEstimate,
  settling: Settling,
): Promise<Reservation> {
  exchange.estimate = estimate;
  const reservation = await spending.reserve(exchange, routePlan, estimate);
  settling.reserved(reservation);
  await ledger.open(exchange, reservation);
  return reservation;
}

type Sent = Pick<
  Plan,
  'exchange' | 'route' | 'clientHeaders' | 'resolved' | 'routePlan' | 'credential' | 'reservation'
>;

export function planAbout(sent: Sent, about: NonNullable<Plan['about']>, records: Plan['records']): Plan {
  const deadlineMs = performance.now() + sent.routePlan.totalMs;
  return { ...sent, question: noQuestion, about, query: noQuery, deadlineMs, records, inBackground: false };
}

const empty = Buffer.from('{}');
const scan = scanJson(empty, compileWatchedKeys([]));
if (!scan.ok) throw new TypeError('an empty object is JSON');

export const noQuestion: Question = Object.freeze({
  body: empty,
  scan,
  modelField: undefined,
  mayNameOthers: false,
  standIn: undefined,
  words: undefined,
});

const forStream: RequestEstimate = Object.freeze({ ...forNothing, isStream: true });

export function notFound({ kind }: Pick<ObjectRoute, 'kind'>): GatewayError {
  return new GatewayError('object_not_found', {
    param: 'id',
    message: `There is no ${kind} with this ID that was made through the gateway by this project; it may be gone.`,
  });
}

/** The error for deleting an object that the upstream is still producing: its cost could then never be known. */
function stillMade({ kind }: ObjectRoute): GatewayError {
  return new GatewayError('unsupported_parameter', {
    param: 'id',
    message: `This ${kind} is still being made in the background; cancel it first, or wait for its end.`,
  });
}
