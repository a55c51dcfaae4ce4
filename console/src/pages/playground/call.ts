/** Sends one call to the gateway and records request, response, times, and whether it completed, broke or was stopped. */

import { type GatewayRoute, hasModelInPath, operationRows } from '../../../../src/admin/contract.ts';
import { ApiError, send } from '../../parts/api/client.ts';
import { createSseReader } from '../../parts/api/sse.ts';

export interface FormPart {
  readonly name: string;
  readonly value: string | File;
}

export interface Call {
  readonly route: GatewayRoute;
  readonly model: string;
  /** The JSON body; for a form, its fields, with files by their names. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly form?: readonly FormPart[];
}

interface GatewayFault {
  readonly message: string;
  readonly code: string | undefined;
  readonly param: string | undefined;
}

/** How a call ended. `refused`: with an error status. `cut`: the connection broke. `stopped`: by the user. */
type Ending = 'answered' | 'refused' | 'cut' | 'stopped';

export interface Answer {
  readonly call: Call;
  readonly ending: Ending;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly requestId: string | undefined;
  /** The body as JSON: undefined if it is no JSON, a list of events for a stream. */
  readonly json: unknown;
  readonly text: string;
  readonly bytes: number;
  readonly isStream: boolean;
  readonly sound: Blob | undefined;
  readonly fault: GatewayFault | undefined;
  readonly firstByteMs: number;
  readonly totalMs: number;
}

interface CallOptions {
  readonly signal: AbortSignal;
  /** A key to use instead of the console's own; sent once and not stored. */
  readonly key: string | undefined;
  readonly onEvent?: ((event: unknown) => void) | undefined;
}

const byGateway = (response: Response): boolean => response.headers.get('x-postern-answer') === 'gateway';

/** Sends a call. Throws if the console's server refuses it or cannot be reached. */
export async function callGateway(call: Call, { signal, key, onEvent }: CallOptions): Promise<Answer> {
  const startedMs = performance.now();
  const { route, model, body, form } = call;
  const response = await send('POST /api/playground/:route', {
    params: { route },
    query: { model: namesModel(route) ? model : undefined },
    body: form === undefined ? body : toFormData(form),
    headers: key === undefined ? {} : { 'x-postern-key': key },
    signal,
    accepts: byGateway,
  });
  const headers = Object.fromEntries([...response.headers].filter(([name]) => name !== 'x-postern-answer'));
  const isStream = (headers['content-type'] ?? '').startsWith('text/event-stream');
  const soundType = toSoundType(call, response);
  const read = await readBody(response, signal, {
    onEvent: isStream ? onEvent : undefined,
    isText: soundType === undefined,
  });
  const json = isStream ? read.events : toJson(read.text);
  return {
    call,
    ending: toEnding(response, read, isStream),
    status: response.status,
    headers,
    requestId: headers['x-request-id'],
    json,
    text: read.text,
    bytes: read.bytes,
    isStream,
    sound: soundType === undefined ? undefined : new Blob([...read.raw], { type: soundType }),
    fault: response.ok ? undefined : toFault(json, read.text),
    firstByteMs: (read.firstByteAtMs ?? performance.now()) - startedMs,
    totalMs: performance.now() - startedMs,
  };
}

/** Whether the path names the model, so that the body does not. */
const namesModel = (route: GatewayRoute): boolean =>
  route === 'engines-embeddings' || hasModelInPath(operationRows[route]);

/** The media type of a response with audio; undefined for a text response. */
function toSoundType({ route }: Call, { ok, headers }: Response): string | undefined {
  const type = headers.get('content-type') ?? '';
  const said = /^audio\/[\w.+-]+/.exec(type)?.[0];
  if (said !== undefined || route === 'engines-embeddings') return said;
  // For audio the type is left out: players detect it.
  const isUntold = ok && operationRows[route].answers.includes('audio') && type.startsWith('text/plain');
  return isUntold ? 'audio/mpeg' : undefined;
}

function toFormData(parts: readonly FormPart[]): FormData {
  const data = new FormData();
  for (const { name, value } of parts) data.append(name, value);
  return data;
}

interface Reading {
  readonly onEvent: ((event: unknown) => void) | undefined;
  readonly isText: boolean;
}

interface ReadBody {
  readonly text: string;
  /** The received bytes, if the body is not text. */
  readonly raw: readonly Uint8Array<ArrayBuffer>[];
  readonly bytes: number;
  readonly events: readonly unknown[];
  readonly isDone: boolean;
  readonly wasStopped: boolean;
  readonly isBroken: boolean;
  readonly firstByteAtMs: number | undefined;
}

async function readBody(response: Response, signal: AbortSignal, { onEvent, isText }: Reading): Promise<ReadBody> {
  const decoder = new TextDecoder();
  const sse = createSseReader();
  const events: unknown[] = [];
  const pieces: string[] = [];
  const raw: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  let isDone = false;
  let isBroken = false;
  let firstByteAtMs: number | undefined;
  const reader = response.body?.getReader();
  try {
    for (;;) {
      const piece = await reader?.read();
      if (piece === undefined || piece.done) break;
      firstByteAtMs ??= performance.now();
      bytes += piece.value.length;
      if (!isText) {
        raw.push(piece.value);
        continue;
      }
      const text = decoder.decode(piece.value, { stream: true });
      pieces.push(text);
      if (onEvent === undefined) continue;
      for (const data of sse.push(text)) {
        if (data === '[DONE]') isDone = true;
        else {
          const event = toJson(data) ?? data;
          events.push(event);
          onEvent(event);
        }
      }
    }
  } catch {
    // The connection broke: the part received is shown, marked as incomplete.
    isBroken = true;
  }
  return { text: pieces.join(''), raw, bytes, events, isDone, wasStopped: signal.aborted, isBroken, firstByteAtMs };
}

function toEnding(response: Response, read: ReadBody, isStream: boolean): Ending {
  if (read.wasStopped) return 'stopped';
  if (read.isBroken) return 'cut';
  if (!response.ok) return 'refused';
  return isStream && !read.isDone && !read.events.some(hasFinishReason) ? 'cut' : 'answered';
}

/** Events that end a complete stream, for streams without `[DONE]`. */
const lastEvents: readonly unknown[] = [
  'message_stop',
  'response.completed',
  'response.incomplete',
  'response.failed',
  'image_generation.completed',
  'image_edit.completed',
  'transcript.text.done',
  'error',
];

function hasFinishReason(event: unknown): boolean {
  if (lastEvents.includes(read(event, 'type'))) return true;
  const choices = read(event, 'choices');
  return Array.isArray(choices) && choices.some((choice) => typeof read(choice, 'finish_reason') === 'string');
}

function toFault(json: unknown, text: string): GatewayFault {
  const error = read(json, 'error');
  const message = read(error, 'message');
  const said = typeof message === 'string' ? message : text.slice(0, 500);
  return {
    message: said === '' ? 'The upstream answered with an error and no words.' : said,
    code: toText(read(error, 'code')),
    param: toText(read(error, 'param')),
  };
}

const toText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The value of a field; undefined if the value, written by an upstream, is no object. */
export const read = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

export function readList(value: unknown, name: string): readonly unknown[] {
  const list = read(value, name);
  return Array.isArray(list) ? list : [];
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // shown as the text that it is
  }
}

export const isStopped = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError';

export const wasSignedOut = (error: unknown): boolean => error instanceof ApiError && error.code === 'sign_in_needed';

interface Span {
  readonly name: 'upstream' | 'gateway' | 'rest';
  readonly title: string;
  readonly ms: number;
}

/** Durations by name, from a header such as `gateway;dur=1.2, upstream;dur=30`. */
export function parseServerTiming(text: string): ReadonlyMap<string, number> {
  const spans = new Map<string, number>();
  for (const entry of text.split(',')) {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim());
    const duration = parameters.find((parameter) => parameter.startsWith('dur='))?.slice('dur='.length);
    const ms = Number(duration);
    if (name !== '' && duration !== undefined && Number.isFinite(ms)) spans.set(name, ms);
  }
  return spans;
}

/** The parts of the call's duration; empty if the gateway does not send them. */
export function toSpans({ headers, totalMs }: Pick<Answer, 'headers' | 'totalMs'>): Span[] {
  const said = parseServerTiming(headers['server-timing'] ?? '');
  const gatewayMs = said.get('gateway');
  if (gatewayMs === undefined) return [];
  const upstreamMs = said.get('upstream') ?? 0;
  const spans: Span[] = [
    { name: 'gateway', title: 'Gateway', ms: gatewayMs },
    { name: 'upstream', title: 'Upstream', ms: upstreamMs },
    { name: 'rest', title: 'Reading, and the way to this page', ms: Math.max(0, totalMs - gatewayMs - upstreamMs) },
  ];
  return spans;
}
