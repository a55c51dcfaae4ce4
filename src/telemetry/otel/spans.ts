/** Writes the spans of a request: one for the request and one per call, from an allow-list without content, headers or query. */

import type { Attributes, HrTime, SpanContext, SpanStatus } from '@opentelemetry/api';
import type { InstrumentationScope } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Exchange } from '../../core/exchange.ts';
import type { Operation } from '../../core/operations/index.ts';
import type { Upstream } from '../../core/snapshot.ts';
import { withMasks } from '../../lib/secrets/secret-shapes.ts';
import type { OwnTrace, TracedCall } from './own-trace.ts';

export interface Teller {
  readonly resource: Resource;
  readonly instrumentationScope: InstrumentationScope;
}

/** Kinds by the numbers of OTLP; their names are in a package that is loaded on demand. */
const spanKinds = { server: 1, client: 2 } as const;
const unset: SpanStatus = Object.freeze({ code: 0 });
const failed: SpanStatus = Object.freeze({ code: 2 });
const sampledFlag = 1;

export function spansOf(
  exchange: Exchange,
  trace: OwnTrace,
  method: string,
  nowMs: number,
  teller: Teller,
): ReadableSpan[] {
  const [first] = trace.calls;
  return [
    serverSpan(exchange, trace, method, nowMs, teller),
    ...trace.calls.map((call) => clientSpan(exchange, trace, call, call === first ? undefined : first, nowMs, teller)),
  ];
}

function serverSpan(exchange: Exchange, trace: OwnTrace, method: string, nowMs: number, teller: Teller): ReadableSpan {
  const { traceId, parent } = trace;
  const { status, errorCode, cut, key, target, route, usage, bill, path = '' } = exchange;
  const isFailed = status >= 500 || cut;
  const attributes: Attributes = {
    'http.request.method': method,
    'http.route': path,
    'http.response.status_code': status,
    'postern.request.id': exchange.id,
    'postern.attempts': exchange.attempts,
  };
  if (status >= 400 || cut) attributes['error.type'] = errorCode ?? (cut ? 'cut' : String(status));
  if (route !== undefined) attributes['gen_ai.operation.name'] = operationName(route.operation);
  if (exchange.modelId !== undefined) attributes['gen_ai.request.model'] = withMasks(exchange.modelId);
  if (target !== undefined) {
    attributes['gen_ai.provider.name'] = providerName(target.upstream.family.id);
    attributes['gen_ai.response.model'] = withMasks(target.model);
    attributes['postern.upstream'] = withMasks(target.upstream.id);
  }
  if (key !== undefined) attributes['postern.key'] = withMasks(key.id);
  if (key?.project !== undefined) attributes['postern.project'] = withMasks(key.project);
  if (exchange.client.gone) attributes['postern.client_gone'] = true;
  const { clientAddress, snapshot } = exchange;
  if (clientAddress !== undefined && snapshot.server.logClientAddress) attributes['client.address'] = clientAddress;
  putNumber(attributes, 'gen_ai.usage.input_tokens', usage?.promptTokens);
  putNumber(attributes, 'gen_ai.usage.output_tokens', usage?.completionTokens);
  putNumber(attributes, 'postern.usage.search_units', usage?.searchUnits);
  if (typeof bill?.costNanos === 'number') attributes['postern.cost_usd'] = bill.costNanos / 1e9;
  return toSpan(teller, {
    name: `${method} ${path}`,
    kind: spanKinds.server,
    context: { traceId, spanId: trace.spanId, traceFlags: sampledFlag },
    parent: parent && { traceId, spanId: parent.spanId, traceFlags: sampledFlag, isRemote: true },
    startMs: exchange.startedAtMs,
    endMs: exchange.startedAtMs + nowMs - exchange.startedMs,
    status: isFailed ? failed : unset,
    attributes,
    links: [],
  });
}

/** The span of a call. `first`: for a retry or a hedge, the call before it or beside it. */
function clientSpan(
  exchange: Exchange,
  { traceId, spanId }: OwnTrace,
  call: TracedCall,
  first: TracedCall | undefined,
  nowMs: number,
  teller: Teller,
): ReadableSpan {
  const { target, outcome, status } = call;
  const { upstream } = target;
  const model = withMasks(target.model);
  const operation = exchange.route === undefined ? 'call' : operationName(exchange.route.operation);
  const atMs = (ms: number): number => exchange.startedAtMs + ms - exchange.startedMs;
  const isFailed = outcome !== 'answered' || exchange.cut || (status ?? 0) >= 400;
  const attributes: Attributes = {
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': providerName(upstream.family.id),
    'gen_ai.request.model': model,
    'postern.upstream': withMasks(upstream.id),
    'postern.outcome': outcome ?? 'abandoned',
  };
  if (isFailed) attributes['error.type'] = status === undefined ? (outcome ?? 'abandoned') : String(status);
  putNumber(attributes, 'http.response.status_code', status);
  const { host, port } = addressOf(upstream);
  if (host !== undefined) attributes['server.address'] = host;
  putNumber(attributes, 'server.port', port);
  return toSpan(teller, {
    name: `${operation} ${model}`,
    kind: spanKinds.client,
    context: { traceId, spanId: call.spanId, traceFlags: sampledFlag },
    parent: { traceId, spanId, traceFlags: sampledFlag },
    startMs: atMs(call.startedMs),
    endMs: atMs(call.endedMs === 0 ? nowMs : call.endedMs),
    status: isFailed ? failed : unset,
    attributes,
    links: first === undefined ? [] : [{ context: { traceId, spanId: first.spanId, traceFlags: sampledFlag } }],
  });
}

const standardPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

interface Address {
  readonly host: string | undefined;
  readonly port: number | undefined;
}

const addresses = new WeakMap<Upstream, Address>();

function addressOf(upstream: Upstream): Address {
  const known = addresses.get(upstream);
  if (known !== undefined) return known;
  const { hostname = '', port = '', protocol = '' } = URL.parse(upstream.origin ?? '') ?? {};
  const host = hostname === '' ? undefined : withMasks(hostname);
  const address = { host, port: port === '' ? standardPorts[protocol] : Number(port) };
  addresses.set(upstream, address);
  return address;
}

function putNumber(attributes: Attributes, name: string, value: number | null | undefined): void {
  if (value !== null && value !== undefined) attributes[name] = value;
}

interface SpanFacts extends Pick<ReadableSpan, 'name' | 'kind' | 'status' | 'attributes' | 'links'> {
  readonly context: SpanContext;
  readonly parent: SpanContext | undefined;
  readonly startMs: number;
  readonly endMs: number;
}

function toSpan(
  { resource, instrumentationScope }: Teller,
  { context, parent, startMs, endMs, ...facts }: SpanFacts,
): ReadableSpan {
  return {
    ...facts,
    ...(parent !== undefined && { parentSpanContext: parent }),
    spanContext: () => context,
    startTime: toHrTime(startMs),
    endTime: toHrTime(endMs),
    duration: toHrTime(endMs - startMs),
    events: [],
    ended: true,
    resource,
    instrumentationScope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

export function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

/** Operation names of OpenTelemetry's conventions; other operations keep their own names. */
const operationNames: Readonly<Partial<Record<Operation, string>>> = {
  chat: 'chat',
  messages: 'chat',
  responses: 'chat',
  completions: 'text_completion',
  generate: 'generate_content',
};

const operationName = (operation: Operation): string => operationNames[operation] ?? operation;

const providerNames: Readonly<Record<string, string>> = {
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  gemini: 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  mistral: 'mistral_ai',
};

const providerName = (family: string): string => providerNames[family] ?? family;
