/** Serves a request on the general path, in reading order: admit, read, find the model, plan, attempt, relay. */

import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { ownLines } from '../answers/own-headers.ts';
import { type Answered, observerOf, relay } from '../answers/relay.ts';
import { type LettingIn, letIn, Settling } from '../answers/settling.ts';
import { asList } from '../answers/stream-as-list.ts';
import { Captured } from '../core/accounting/captured.ts';
import type { Ledger } from '../core/accounting/spending.ts';
import { wholeBodyBytes } from '../core/call-body.ts';
import { resolveAt } from '../core/client-api.ts';
import type { RoutePlan } from '../core/dispatch.ts';
import { GatewayError } from '../core/errors.ts';
import type { Exchange, RequestHeaders } from '../core/exchange.ts';
import type { KeyRecord } from '../core/key.ts';
import { isForPart } from '../core/model-fields.ts';
import type { Operation } from '../core/operations/index.ts';
import type { Answer } from '../core/outcome.ts';
import { noQuery, type Query, queryOf, readQuery } from '../core/query.ts';
import type { ApiEntry, Route } from '../core/route.ts';
import type { ResolvedModel } from '../core/snapshot.ts';
import type { Upload } from '../core/upload.ts';
import { findModel, isHidden, lookUp, type MayUseModel } from '../plan/find-model.ts';
import { namesAgainIn } from '../plan/named-again.ts';
import { namedObjectsIn } from '../plan/named-objects.ts';
import { asksOtherWidth, servingOtherWidth, withoutWidth } from '../plan/one-width.ts';
import { estimateWith, type OtherModel, otherModelsIn, refusedModel, routePlanWith } from '../plan/other-models.ts';
import { ParsingMemory } from '../plan/parsing-memory.ts';
import { nameAt, type Plan } from '../plan/planned-call.ts';
import {
  checkShape,
  checkStandIn,
  formReaderOf,
  type NamedModel,
  type Question,
  questionReaderOf,
  shapeIn,
  shapeSaidBy,
} from '../plan/question.ts';
import { mayHaveRole, withRole } from '../plan/roles.ts';
import { routePlanOf } from '../plan/route-plan.ts';
import { isInBackground, recordsOf } from '../plan/stored-work.ts';
import { bodyHeaders, clientHeadersWithout } from '../plan/upstream-head.ts';
import { estimateOf } from '../plan/usage/request-estimate.ts';
import type { ServerAnswer } from '../wire/server-answer.ts';
import type { ServerRequest } from '../wire/server-request.ts';
import { attempt, type FirstCall } from './calls/attempt.ts';
import {
  type Asker,
  answerAtOnce,
  checkDemands,
  type Entered,
  enter,
  errorAtClientApi,
  leave,
  meantAt,
} from './client-api.ts';
import { readForm } from './form-question.ts';
import { answerTo, findRemembered, type ListDeps, missingOf } from './lists/list-answer.ts';
import { locationOf, routePlanAt } from './objects/object-location.ts';
import { ownerOf } from './objects/object-registry.ts';
import { type RecordingDeps, recorded } from './objects/recording.ts';

export interface PipelineDeps extends ListDeps, RecordingDeps, LettingIn {
  readonly routes: readonly Route[];
  /** Finds the key of the caller, and checks that it may use the route at all. */
  admit(exchange: Exchange, route: Route, request: ServerRequest): KeyRecord | Promise<KeyRecord>;
  /** Checks the media type, then reads and decodes the whole body under the limits; a form if the route takes one. */
  readBody(exchange: Exchange, route: Route, request: ServerRequest, response: ServerAnswer): Promise<Buffer | Upload>;
  readonly mayUseModel: MayUseModel;
  checkOperation(key: KeyRecord, operation: Operation): void;
  readonly ledger: Ledger;
  bill(exchange: Exchange): void;
}

/** A request that the direct path began, and hands over. */
export interface Begun {
  readonly settling: Settling;
  readonly key: KeyRecord;
  /** The body; undefined if it was not read yet. */
  readonly body: Buffer | undefined;
  /** The parsed body; undefined if it was not parsed yet. */
  readonly question: Question | undefined;
}

export interface Pipeline {
  serve(
    exchange: Exchange,
    route: Route,
    modelFromPath: string | undefined,
    request: ServerRequest,
    response: ServerAnswer,
    begun?: Begun,
  ): Promise<void>;
  /** Serves a planned request from the point where it may be sent, or was: `first` is the outcome of the first call. */
  goOn(plan: Plan, response: ServerAnswer, settling: Settling, first: FirstCall): Promise<void>;
}

export function createPipeline(deps: PipelineDeps): Pipeline {
  const { routes, admit, readBody, mayUseModel, checkOperation, spending, ledger } = deps;
  for (const route of routes) {
    questionReaderOf(route);
    if (route.form !== undefined) formReaderOf(route);
  }

  function readQuestion(
    exchange: Exchange,
    route: Route,
    request: ServerRequest,
    body: Buffer | Upload,
    modelFromPath: string | undefined,
  ): Question | Promise<Question> {
    if (!Buffer.isBuffer(body)) return readUpload(exchange, route, body, modelFromPath !== undefined);
    if (exchange.key?.captureMs !== undefined) exchange.captured = new Captured(body);
    checkShape(route, request.fields);
    return questionReaderOf(route)(body);
  }

  /** Reads a form; what is captured are its fields, without the files. */
  async function readUpload(
    exchange: Exchange,
    route: Route,
    upload: Upload,
    mayBeMissing: boolean,
  ): Promise<Question> {
    exchange.upload = upload;
    const question = await readForm(upload, route, mayBeMissing);
    if (exchange.key?.captureMs !== undefined) exchange.captured = new Captured(question.body);
    return question;
  }

  /** Answers a request. Nothing that holds the body outlives this function, as a stream may last much longer. */
  async function ask(
    exchange: Exchange,
    called: Route,
    modelInPath: string | undefined,
    request: ServerRequest,
    response: ServerAnswer,
    settling: Settling,
    begun: Begun | undefined,
  ): Promise<Answered> {
    exchange.shape = shapeIn(called, request.fields) ?? exchange.shape;
    const admitted = begun?.key ?? admit(exchange, called, request);
    const key = admitted instanceof Promise ? await admitted : admitted;
    if (begun?.key === undefined) letIn(exchange, key, deps);
    const query = queryFor(called, request.target);
    const modelFromPath = modelInPath ?? modelBesideBody(called, request.fields);
    const body =
      begun?.body ?? (called.own?.method === 'GET' ? noBody : await readBody(exchange, called, request, response));
    const read = begun?.question ?? readQuestion(exchange, called, request, body, modelFromPath);
    const asked = read instanceof Promise ? await read : read;
    const route =
      called.entry === undefined
        ? called
        : meantAt(called, asked, askerOf(exchange, key, called, asked, modelFromPath));
    if (called.entry?.instead !== undefined) checkOperation(key, route.operation);
    exchange.route = route;
    const entered =
      route.entry === undefined ? undefined : await enterBy(exchange, key, route, route.entry, asked, modelFromPath);
    const canonical = entered?.question ?? asked;
    const resolved = findModel(exchange, key, route, canonical, modelFromPath, mayUseModel);
    const unprefixed =
      mayHaveRole(route) && asksOtherWidth(canonical, resolved.model)
        ? await withoutWidth(canonical, resolved.model, route, new ParsingMemory(exchange.requestLease))
        : canonical;
    exchange.shape ??= resolved.model.shape ?? shapeSaidBy(unprefixed);
    checkStandIn(unprefixed, resolved.model.acceptsMessages, exchange.shape);
    const { roles } = resolved.model;
    const question =
      roles === undefined || !mayHaveRole(route)
        ? unprefixed
        : await withRole(unprefixed, resolved, roles, modelFromPath, route, new ParsingMemory(exchange.requestLease));
    const judging = othersIn(exchange, key, route, question, query.asked);
    const others = judging instanceof Promise ? await judging : judging;
    if (entered !== undefined && asked.mayNameOthers) await othersIn(exchange, key, called, asked, noQuery);
    const any =
      others === undefined ? routePlanOf(resolved, route) : routePlanWith(routePlanOf(resolved, route), others);
    const open = question.onlyWidth === undefined ? any : servingOtherWidth(any, question.onlyWidth);
    const records = recordsOf(question, route);
    const inBackground = isInBackground(question, records);
    const looked = namedObjectsIn(
      question,
      route,
      new ParsingMemory(exchange.requestLease),
      route.own !== undefined && storesObjects(open),
    );
    const named = looked instanceof Promise ? await looked : looked;
    const locating = locationOf(named, { owner: ownerOf(key), snapshot: exchange.snapshot }, deps.objects);
    const location = locating instanceof Promise ? await locating : locating;
    const located = routePlanAt(open, location, resolved.id);
    const { routePlan } = located;
    if (entered !== undefined) checkDemands(entered.entrance, routePlan, resolved.id);
    const counted = estimateOf(question, route, routePlan, location?.param);
    const counts = counted instanceof Promise ? await counted : counted;
    const estimate = others === undefined ? counts : estimateWith(counts, routePlan, others);
    exchange.estimate = estimate;

    const clientHeaders = entered === undefined ? request.fields : clientHeadersWithout(request.fields, bodyHeaders);
    const remembered =
      routePlan.model.cache === undefined
        ? undefined
        : await findRemembered({ exchange, route, question, resolved, routePlan, clientHeaders }, deps.lists);
    const payable = remembered === undefined ? estimate : missingOf(estimate, remembered);
    const reserved = spending.reserve(exchange, routePlan, payable);
    const reservation = reserved instanceof Promise ? await reserved : reserved;
    settling.reserved(reservation);
    await ledger.open(exchange, reservation);

    const deadlineMs = performance.now() + routePlan.totalMs;
    const namedAgain =
      route.model.again === undefined || modelFromPath === undefined
        ? undefined
        : await namesAgainIn(asked.body, route.model, modelFromPath);
    const calling = {
      clientHeaders,
      ...located,
      remembered,
      namedAgain: entered === undefined ? namedAgain : undefined,
      query: query.asked,
      others,
      deadlineMs,
      reservation,
      records,
      inBackground,
      isRead: query.wantsList,
      isCountRead: entered?.entrance.stream !== undefined,
    };
    const plan = { exchange, route, question, resolved, ...calling };
    const answered = await (entered === undefined ? attemptPassing(plan) : attemptAtClientApi(plan, entered));
    const passing = recorded(plan, answered, deps);
    const passed = passing instanceof Promise ? await passing : passing;
    const answer = query.wantsList ? asList(passed, () => observerOf(exchange, passed)) : passed;
    if (question.body.length > wholeBodyBytes) exchange.requestLease?.release();
    return { answer, lines: ownLines(exchange, answer, resolved, question, reservation) };
  }

  async function askOn(plan: Plan, first: FirstCall): Promise<Answered> {
    const { exchange, resolved, question, reservation } = plan;
    const answer = await attempt(plan, deps, first);
    if (question.body.length > wholeBodyBytes) exchange.requestLease?.release();
    return { answer, lines: ownLines(exchange, answer, resolved, question, reservation) };
  }

  function enterBy(
    exchange: Exchange,
    key: KeyRecord,
    route: Route,
    entry: ApiEntry,
    asked: Question,
    modelFromPath: string | undefined,
  ): Promise<Entered> {
    return enter(entry, asked, new ParsingMemory(exchange.requestLease), {
      upstreamNames() {
        const resolved = lookUp(exchange, key, route, asked, modelFromPath, mayUseModel);
        return resolved.model.targets.map((target) => nameAt(target, resolved));
      },
    });
  }

  /** Further models that the request names, each of which the key may use; undefined if there are none. */
  function othersIn(
    exchange: Exchange,
    key: KeyRecord,
    route: Route,
    question: Question,
    query: Query,
  ): readonly OtherModel[] | undefined | Promise<readonly OtherModel[] | undefined> {
    if (!question.mayNameOthers && (route.own === undefined || query === noQuery)) return undefined;
    const { models, server } = exchange.snapshot;
    const judge = (named: readonly NamedModel[]): readonly OtherModel[] | undefined => {
      if (named.length === 0) return undefined;
      return named.map((one) => {
        const resolved = resolveAt(exchange.clientApi, models, one.name);
        if (resolved === undefined || isHidden(resolved, route) || !fits(resolved, one, route)) {
          throw refusedModel(one.param);
        }
        if (mayUseModel(key, resolved.id)) return { ...one, resolved };
        if (server.revealModels) throw new GatewayError('model_not_allowed', { param: one.param });
        throw refusedModel(one.param, 'model_not_allowed');
      });
    };
    const found = otherModelsIn(question, route, query);
    return found instanceof Promise ? found.then(judge) : judge(found);
  }

  function askerOf(
    exchange: Exchange,
    key: KeyRecord,
    called: Route,
    asked: Question,
    modelFromPath: string | undefined,
  ): Asker {
    return {
      model: () => lookUp(exchange, key, called, asked, modelFromPath, mayUseModel).model,
      mayAsk: (operation) => key.operations === undefined || key.operations.includes(operation),
    };
  }

  function attemptPassing(plan: Plan): Promise<Answer> {
    const { exchange, route } = plan;
    const answering = answerTo(plan, deps);
    // Upstreams of a client API's own routes write errors in its format; other errors are converted.
    const isSaidSo = route.clientApi !== undefined || exchange.clientApi?.error === undefined;
    return isSaidSo ? answering : answering.then((answer) => errorAtClientApi(exchange, answer));
  }

  async function attemptAtClientApi(plan: Plan, { entrance }: Entered): Promise<Answer> {
    const { exchange } = plan;
    if (entrance.atOnce !== undefined) return answerAtOnce(exchange, entrance, entrance.atOnce);
    return leave(exchange, entrance, await answerTo(plan, deps), deps.answerPool);
  }

  return {
    serve(exchange, route, modelFromPath, request, response, begun) {
      const settling = begun?.settling ?? new Settling(exchange, deps);
      const answering = ask(exchange, route, modelFromPath, request, response, settling, begun);
      return relay(exchange, answering, response, settling);
    },
    goOn: (plan, response, settling, first) => relay(plan.exchange, askOn(plan, first), response, settling),
  };
}

/** The query for the upstream, and whether the client reads its stream as a list. */
interface Asked {
  readonly asked: Query;
  readonly wantsList: boolean;
}

const plain: Asked = Object.freeze({ asked: noQuery, wantsList: false });

function queryFor({ query: grammar, streams }: Route, target: string): Asked {
  if (grammar === undefined) return plain;
  const asked = readQuery(queryOf(target), grammar);
  if (streams === undefined) return { asked, wantsList: false };
  const [parameter, value] = streams.asEvents;
  if (asked.get(parameter) === value) return { asked, wantsList: false };
  return { asked: readQuery(`${parameter}=${value}`, grammar), wantsList: true };
}

const noBody = Buffer.from('{}');

/** The model of a custom route whose path and body do not name it: a configured one, or that of a header. */
function modelBesideBody({ own }: Route, headers: RequestHeaders): string | undefined {
  if (own?.model.from === 'nowhere') return own.model.id;
  if (own?.model.from !== 'header') return undefined;
  const { name } = own.model;
  const said = headers.get(name);
  if (said !== undefined && said !== '') return said;
  throw new GatewayError('missing_required_parameter', {
    param: name,
    message: `The header ${name} is missing; send the name of a model in it.`,
  });
}

const storesObjects = ({ tiers }: RoutePlan): boolean =>
  tiers.some((tier) =>
    tier.some(({ target: { upstream } }) => upstream.filesPath !== undefined || upstream.batchesPath !== undefined),
  );

/** Whether a further model may be named in a field: one that may answer in place of the requested one must serve the same operation. */
const fits = ({ model }: ResolvedModel, { param }: NamedModel, { operation }: Route): boolean =>
  isForPart(param) || model.operations.includes(operation);
