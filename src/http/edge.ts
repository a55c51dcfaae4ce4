/** Entry point of client requests: checks framing, route and method, answers what needs no upstream, and turns every error into a response. */

import { performance } from 'node:perf_hooks';
import type { JsonEndpoint } from '../core/client-api.ts';
import { anthropicHeader } from '../core/error-shape.ts';
import { GatewayError } from '../core/errors.ts';
import { Exchange } from '../core/exchange.ts';
import { withOwnMark } from '../core/loop-mark.ts';
import type { ObjectRoute } from '../core/object-route.ts';
import { type Route, routeOfCustom } from '../core/route.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { Clock } from '../lib/clock.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { createId } from '../lib/ids.ts';
import type { WireFault } from '../wire/fault.ts';
import type { ServerAnswer } from '../wire/server-answer.ts';
import type { ServerRequest } from '../wire/server-request.ts';
import { toClientAddress } from './address.ts';
import { answerError, toGatewayError, toRawError, writeJson } from './error-answer.ts';
import { toRefusal } from './framing.ts';
import {
  ClientLink,
  clientRequestIdIn,
  createRequestBodies,
  factsOf,
  type RequestBodies,
  type RequestBodiesDeps,
} from './request-body.ts';
import { createRouter, methodsAt, noAnthropicFiles, type RouteMatch, type Router, type Routes } from './router.ts';

export interface EdgeDeps extends RequestBodiesDeps {
  readonly clock: Clock;
  readonly routes: Routes;
  /** ID of this installation, which marks the gateway's own calls to detect loops. */
  readonly installation: string;
  current(): Snapshot;
  isReady(): boolean;
  ledgerState(): {
    /** The journal cannot be written: requests that cost money are refused. */
    readonly isJournalFailing: boolean;
    /** Why the store refuses rows, and how many of them wait in the journal. */
    readonly failure: string | undefined;
    readonly rowsBehind: number;
  };
  /** Serves a client route: writes its own answer, or throws before it has written anything. `ended` is notified of either, once. */
  serve(
    exchange: Exchange,
    route: Route,
    modelFromPath: string | undefined,
    request: ServerRequest,
    response: ServerAnswer,
    ended: Ended,
  ): void;
  serveObject(
    exchange: Exchange,
    route: ObjectRoute,
    id: string,
    request: ServerRequest,
    response: ServerAnswer,
  ): Promise<void>;
  /** The document with all models, or with one model, as the caller may see them. */
  describeModels(exchange: Exchange, id: string | undefined, request: ServerRequest): Promise<unknown>;
  /** The document of a client API's fixed endpoint, as the caller may see it. */
  showEndpoint(
    exchange: Exchange,
    endpoint: JsonEndpoint,
    modelFromPath: string | undefined,
    request: ServerRequest,
    response: ServerAnswer,
  ): Promise<unknown>;
  /** Records the result; called once for every request. */
  settle(exchange: Exchange, method: string): void;
}

interface Ended {
  resolve(): void;
  reject(error: unknown): void;
}

export interface Edge extends RequestBodies {
  /** Handles a request. `isAtSocket`: it came over the Unix socket, where peers have no address. */
  handle(request: ServerRequest, response: ServerAnswer, isAtSocket?: boolean): void;
  /** The complete answer to an invalid request, each byte as one character; the connection ends after it. */
  refuse(fault: WireFault): string;
}

export function createEdge(deps: EdgeDeps): Edge {
  const routers = new WeakMap<Snapshot, Router>();
  // Ambiguous routes must fail before serving.
  getOrMake(routers, deps.current(), makeRouter);

  function makeRouter({ customRoutes, server }: Snapshot): Router {
    const routes = [...deps.routes.routes, ...customRoutes.map(routeOfCustom)];
    return createRouter({ ...deps.routes, routes }, server.basePath);
  }

  function handle(request: ServerRequest, response: ServerAnswer, isAtSocket: boolean): void {
    const snapshot = deps.current();
    const nowMs = deps.clock.nowMs();
    const { clientRequestId } = factsOf(request.fields);
    const exchange = new Exchange(createId(nowMs), clientRequestId, snapshot, nowMs, performance.now());
    response.ends = new ClientLink(exchange);
    noteAddress(exchange, request, isAtSocket);
    const ended = new Answering(exchange, request, response, finish);
    try {
      const answering = answer(exchange, request, response, ended);
      if (answering === undefined) ended.resolve();
      else if (answering !== 'later') answering.then(ended.whenDone, ended.whenFailed);
    } catch (error) {
      ended.reject(error);
    }
  }

  function finish(exchange: Exchange, request: ServerRequest, response: ServerAnswer): void {
    exchange.requestLease?.release();
    exchange.upload?.release();
    holdAnswer(exchange, response);
    deps.settle(exchange, request.method);
  }

  /** Holds the lease of the answer's memory until the client has received it, with the same time limit as for sending a request. */
  function holdAnswer({ answerLease, snapshot }: Exchange, response: ServerAnswer): void {
    if (answerLease === undefined) return;
    if (response.isClosed) answerLease.release();
    else response.limitReader(snapshot.server.requestTimeoutMs);
  }

  /** Answers a request. Returns undefined where it is answered already, `later` where `ended` will be notified. */
  function answer(
    exchange: Exchange,
    request: ServerRequest,
    response: ServerAnswer,
    ended: Ended,
  ): Promise<void> | 'later' | undefined {
    exchange.loopMark = withOwnMark(deps.installation, factsOf(request.fields).loopMark);
    const { server } = exchange.snapshot;
    if (server.corsOrigins.length > 0) {
      allowOrigin(request, response, server.corsOrigins);
      if (answerPreflight(request, response)) {
        exchange.status = 204;
        return undefined;
      }
    }

    const { target } = request;
    const queryAt = target.indexOf('?');
    const path = queryAt === -1 ? target : target.slice(0, queryAt);
    const router = getOrMake(routers, exchange.snapshot, makeRouter);
    const match = router.find(path);
    if (match === undefined) {
      exchange.shape = router.shapeOf(path);
      const clientApi = router.clientApiOf(path);
      if (exchange.shape === undefined) exchange.clientApi = clientApi;
      throw new GatewayError('route_not_found', {
        message: router.hintFor({ path, method: request.method, clientApi }),
      });
    }
    if (match.kind === 'route') ({ shape: exchange.shape, errorShape: exchange.errorShape } = match);
    if ('clientApi' in match) exchange.clientApi = match.clientApi;
    exchange.path = match.path;
    if (match.kind === 'refused') throw new GatewayError('operation_not_supported', { message: match.why });
    if (match.kind === 'object') checkFiles(match, request);
    if (request.method === 'GET' && match.path === '/v1/responses') checkUpgrade(request);
    checkMethod(match, request.method);
    if (queryAt !== -1) exchange.clientApi?.judgeQuery?.(target.slice(queryAt + 1));

    switch (match.kind) {
      case 'route':
        deps.serve(exchange, match.route, match.modelFromPath, request, response, ended);
        return 'later';
      case 'object':
        return deps.serveObject(exchange, routeFor(match.routes, request.method), match.id, request, response);
      case 'models':
        return describe(exchange, undefined, request, response);
      case 'model':
        return describe(exchange, match.id, request, response);
      case 'endpoint':
        if ('show' in match.endpoint) return show(exchange, match, match.endpoint, request, response);
        writeText(exchange, response, match.endpoint.text);
        return undefined;
      case 'health':
        writeOwn(exchange, response, 200, { status: 'ok' });
        return undefined;
      case 'ready':
        writeReadiness(exchange, response);
        return undefined;
    }
  }

  async function describe(
    exchange: Exchange,
    id: string | undefined,
    request: ServerRequest,
    response: ServerAnswer,
  ): Promise<void> {
    writeOwn(exchange, response, 200, await deps.describeModels(exchange, id, request));
  }

  async function show(
    exchange: Exchange,
    { modelFromPath }: Extract<RouteMatch, { readonly kind: 'endpoint' }>,
    endpoint: JsonEndpoint,
    request: ServerRequest,
    response: ServerAnswer,
  ): Promise<void> {
    writeOwn(exchange, response, 200, await deps.showEndpoint(exchange, endpoint, modelFromPath, request, response));
  }

  /** Answers the readiness check. Unreachable store: still ready, as rows are safe in the journal and no other node would do better. */
  function writeReadiness(exchange: Exchange, response: ServerAnswer): void {
    const { isJournalFailing, failure, rowsBehind } = deps.ledgerState();
    const ledger = {
      ...(isJournalFailing && { journal: 'failing' }),
      ...(failure !== undefined && { import: 'failing', rows_waiting: rowsBehind }),
    };
    const isReady = deps.isReady() && !isJournalFailing;
    const status = isReady ? 'ready' : 'not ready';
    const body = isJournalFailing || failure !== undefined ? { status, ledger } : { status };
    writeOwn(exchange, response, isReady ? 200 : 503, body);
  }

  function refuse(fault: WireFault): string {
    const refusal = toRefusal(fault);
    const nowMs = deps.clock.nowMs();
    const id = createId(nowMs);
    const { request } = fault;
    if (request === undefined) return toRawError(refusal, id);
    const exchange = new Exchange(id, clientRequestIdIn(request.fields), deps.current(), nowMs, performance.now());
    exchange.status = refusal.status;
    exchange.errorCode = refusal.code;
    deps.settle(exchange, request.method);
    return toRawError(refusal, exchange.clientRequestId ?? id);
  }

  return {
    handle: (request, response, isAtSocket = false) => handle(request, response, isAtSocket),
    refuse,
    ...createRequestBodies(deps),
  };
}

/** A request being answered: it is settled once, whatever its result. */
class Answering implements Ended {
  readonly #exchange: Exchange;
  readonly #request: ServerRequest;
  readonly #response: ServerAnswer;
  readonly #finish: (exchange: Exchange, request: ServerRequest, response: ServerAnswer) => void;

  constructor(
    exchange: Exchange,
    request: ServerRequest,
    response: ServerAnswer,
    finish: (exchange: Exchange, request: ServerRequest, response: ServerAnswer) => void,
  ) {
    this.#exchange = exchange;
    this.#request = request;
    this.#response = response;
    this.#finish = finish;
  }

  get whenDone(): () => void {
    return () => this.resolve();
  }

  get whenFailed(): (error: unknown) => void {
    return (error) => this.reject(error);
  }

  resolve(): void {
    this.#finish(this.#exchange, this.#request, this.#response);
  }

  reject(error: unknown): void {
    const failure = toGatewayError(error);
    // The beginning of the next request is unknown.
    if (failure.code === 'malformed_request') this.#response.keepAlive = false;
    answerError(this.#exchange, this.#request, this.#response, failure);
    this.resolve();
  }
}

function noteAddress(exchange: Exchange, request: ServerRequest, isAtSocket: boolean): void {
  const { trustedProxies, socket } = exchange.snapshot.server;
  exchange.clientAddress = toClientAddress(
    isAtSocket ? undefined : request.remoteAddress,
    factsOf(request.fields).forwardedFor,
    trustedProxies,
    isAtSocket && socket?.isTrusted === true,
  );
}

function routeFor(routes: readonly ObjectRoute[], method: string): ObjectRoute {
  const asked = method === 'HEAD' ? 'GET' : method;
  const route = routes.find((one) => one.method === asked);
  if (route === undefined) throw new TypeError(`${method} was not judged`);
  return route;
}

/** Refuses WebSocket requests, which OpenAI's responses API also offers. */
function checkUpgrade(request: ServerRequest): void {
  if (!/\bwebsocket\b/i.test(request.header('upgrade') ?? '')) return;
  throw new GatewayError('operation_not_supported', {
    message:
      'Responses over a WebSocket are not served: no WebSocket is relayed here. POST to /v1/responses, with "stream": true for events as they come.',
  });
}

/** Refuses Anthropic's file requests: their path is also OpenAI's, and they would go to another service. */
function checkFiles(
  { routes: [route] }: Extract<RouteMatch, { readonly kind: 'object' }>,
  request: ServerRequest,
): void {
  if (route?.kind !== 'file' || request.header(anthropicHeader) === undefined) return;
  throw new GatewayError('operation_not_supported', { message: noAnthropicFiles });
}

function checkMethod(match: RouteMatch, method: string): void {
  const allowed = methodsAt(match);
  if (allowed.includes(method)) return;
  throw new GatewayError('method_not_allowed', {
    message: `This path takes ${allowed.join(', ').replace(/, (\w+)$/, ' and $1')}, not ${method}.`,
    headers: ['Allow', allowed.join(', ')],
  });
}

function writeText(exchange: Exchange, response: ServerAnswer, text: string): void {
  exchange.status = 200;
  const id = exchange.clientRequestId ?? exchange.id;
  exchange.responseBytes = response.send(200, ['content-type', 'text/plain; charset=utf-8', 'x-request-id', id], text);
}

function writeOwn(exchange: Exchange, response: ServerAnswer, status: number, value: unknown): void {
  exchange.status = status;
  const id = exchange.clientRequestId ?? exchange.id;
  exchange.responseBytes = writeJson(response, status, JSON.stringify(value), ['x-request-id', id]);
}

/** Adds CORS headers for browsers, if the operator lists origins; off by default. */
function allowOrigin(request: ServerRequest, response: ServerAnswer, origins: readonly string[]): void {
  const origin = request.header('origin');
  if (origin === undefined || !(origins.includes('*') || origins.includes(origin))) return;
  const { standing } = response;
  standing.push('access-control-allow-origin', origins.includes('*') ? '*' : origin);
  standing.push('access-control-expose-headers', '*, x-request-id, retry-after');
  if (!origins.includes('*')) standing.push('vary', 'origin');
}

function answerPreflight(request: ServerRequest, response: ServerAnswer): boolean {
  const isPreflight = request.fields.has('origin') && request.fields.has('access-control-request-method');
  if (request.method !== 'OPTIONS' || !isPreflight) return false;
  const wanted = request.header('access-control-request-headers');
  const headers = [
    ...['access-control-allow-methods', 'POST, GET'],
    ...['access-control-allow-headers', wanted ?? 'authorization, content-type'],
    ...['access-control-max-age', '600'],
  ];
  response.writeHead(204, 'No Content', headers, 'none');
  response.end();
  return true;
}
