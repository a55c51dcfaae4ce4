/** Serves the admin endpoints over Hono: authenticates, validates, runs, and writes the response. Failures become problem details. */

import { hash } from 'node:crypto';
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { type FieldFault, toPath } from '../../core/field-fault.ts';
import type { Clock } from '../../lib/clock.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { readJson } from '../../lib/json/read-json.ts';
import { takeOutProtoKeys } from '../../lib/proto-keys.ts';
import { withMasks, withoutMasks } from '../../lib/secrets/secret-shapes.ts';
import { inBackground } from '../../lib/time-slices.ts';
import { type Caller, identityOf } from '../caller.ts';
import type { AdminContext } from '../context.ts';
import type { Endpoint } from '../endpoint.ts';
import { type Call, type Implemented, Reply } from '../implement.ts';
import { Problem } from '../problem.ts';
import { checkAccess } from './gate.ts';

const responseKeptMs = 10 * 60_000;
const mostResponses = 1_000;
const keyForm = /^[\x21-\x7e]{1,200}$/;

interface Done {
  readonly atMs: number;
  /** The digest of the body: a repetition must be equal to the byte. */
  readonly digest: string;
  readonly response: Promise<Response>;
}

interface Asked {
  readonly caller: Caller;
  readonly request: Request;
  readonly body: Buffer;
  /** The value of `Idempotency-Key`. */
  readonly key: string;
}

/** Runs a repeated write with the same `Idempotency-Key` only once, and answers each with the same response. In memory. */
export function createOnce(clock: Pick<Clock, 'monotonicMs'>) {
  const done = new Map<string, Done>();

  function forgetOld(nowMs: number): void {
    for (const [name, { atMs }] of done) {
      if (nowMs - atMs < responseKeptMs && done.size < mostResponses) return;
      done.delete(name);
    }
  }

  return async (asked: Asked, work: () => Promise<Response>): Promise<Response> => {
    if (!keyForm.test(asked.key)) {
      throw new Problem('malformed_request', {
        detail: 'Idempotency-Key holds 1 to 200 visible ASCII characters; for example a UUID.',
      });
    }
    const nowMs = clock.monotonicMs();
    forgetOld(nowMs);
    const name = responseNameOf(asked);
    const digest = hash('sha256', asked.body, 'hex');
    const found = done.get(name);
    if (found !== undefined && found.digest !== digest) {
      throw new Problem('key_used_before', {
        detail: 'This Idempotency-Key was used with another body before; use a new one for each request.',
      });
    }
    if (found !== undefined) return (await found.response).clone();
    const response = work();
    done.set(name, { atMs: nowMs, digest, response });
    // A failure may be retried.
    response.catch(() => done.delete(name));
    return (await response).clone();
  };
}

/** The name under which a response is kept. It has the caller and the path, so that no other caller gets the response. */
function responseNameOf({ caller, request: { method, url }, key }: Asked): string {
  const owner = caller.kind === 'member' ? caller.memberId : identityOf(caller);
  return JSON.stringify([caller.kind, owner, method, new URL(url).pathname, key]);
}

interface Surroundings {
  /** The peer's address on the socket. */
  readonly address: string;
}

type Env = { Bindings: Surroundings };
type Runnable = Endpoint & { run(call: Call): unknown };

export interface AdminApi {
  fetch(request: Request, surroundings: Surroundings): Promise<Response>;
}

const mostBodyBytes = 1024 * 1024;

export function createAdminApi(endpoints: readonly Implemented[], context: AdminContext): AdminApi {
  const app = new Hono<Env>();
  const once = createOnce(context.clock);
  for (const endpoint of endpoints) {
    app.on(endpoint.method, endpoint.path, (c) => answer(endpoint as Runnable, c));
  }
  for (const [path, all] of Map.groupBy(endpoints, (endpoint) => endpoint.path)) {
    const methods = all.map(({ method }) => method);
    app.all(path, () => {
      throw new Problem('method_not_allowed', {
        detail: `Use ${methods.join(' or ')} here.`,
        headers: { allow: methods.join(', ') },
      });
    });
  }
  app.notFound(() =>
    toResponse(new Problem('not_found', { detail: 'There is no such path; /api/openapi.json lists all paths.' })),
  );
  app.onError((error) => {
    if (error instanceof Problem) return toResponse(error);
    if (isStoreAway(error)) {
      return toResponse(
        new Problem('store_unavailable', { detail: 'The store does not answer just now; try again in a moment.' }),
      );
    }
    context.log.error('admin API request failed', { why: error.stack ?? error.message });
    return toResponse(
      new Problem('internal_error', {
        detail: 'See the log for the cause; try again, and inform your operator if it persists.',
      }),
    );
  });

  async function answer(endpoint: Runnable, c: Context<Env>): Promise<Response> {
    const caller = await context.access.identify(c.req.raw.headers);
    const consoleUrl = context.configuration.snapshot().console.url;
    checkAccess(endpoint, caller, c.req.raw, { consoleUrl, nowMs: context.clock.nowMs() });
    refuseHeadOfStream(endpoint, c.req.raw);
    const work = async (): Promise<Response> =>
      toAnswer(endpoint, await endpoint.run(await readCall(endpoint, caller, c)));
    const key = endpoint.once === true ? c.req.header('idempotency-key') : undefined;
    if (key === undefined) return work();
    const body = await readBody(c.req.raw.clone(), mostBodyBytes);
    return once({ caller, request: c.req.raw, body, key }, work);
  }

  async function readCall(endpoint: Runnable, caller: Caller, c: Context<Env>): Promise<Call> {
    return {
      params: parse(endpoint.params, unmasked(c.req.param())),
      query: parse(endpoint.query ?? noQuery, unmasked(readQuery(c.req.url))),
      body: isLeftOut(endpoint, c.req.raw) ? undefined : parse(endpoint.body, await readDocument(c.req.raw)),
      caller,
      context,
      headers: c.req.raw.headers,
      address: c.env.address,
      signal: c.req.raw.signal,
      raw: (limitBytes) => readBody(c.req.raw, limitBytes),
    };
  }

  /** Replaces masks in a request's texts by the original texts, which answers had masked because they look like secrets. */
  function unmasked(texts: Readonly<Record<string, string>>): Record<string, string> {
    const secrets = context.configuration.misplacedSecrets();
    if (secrets.size === 0) return texts;
    return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, withoutMasks(text, secrets)]));
  }

  return { fetch: async (request, surroundings) => app.fetch(request, surroundings) };
}

/** Refuses HEAD for a stream: Hono would run GET without sending a body, and the stream would never be read or ended. */
function refuseHeadOfStream({ streams }: Endpoint, { method }: Request): void {
  if (streams === undefined || method !== 'HEAD') return;
  throw new Problem('method_not_allowed', { detail: 'Use GET here.', headers: { allow: 'GET' } });
}

const noQuery = z.strictObject({});

/** Reads the query's parameters; a repeated one is refused, because it would be ambiguous. */
function readQuery(url: string): Record<string, string> {
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of new URL(url).searchParams) {
    if (name in query) throw new Problem('malformed_request', { detail: `The query has ${name} twice; send it once.` });
    if (value !== '') query[name] = value;
  }
  return query;
}

const isLeftOut = ({ body }: Runnable, { headers }: Request): boolean =>
  body === undefined || (body.isOptional() && !headers.has('content-type'));

async function readDocument(request: Request): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\b/i.test(type)) {
    throw new Problem('unsupported_media_type', { detail: 'Send the body as application/json.' });
  }
  const document = readJson((await readBody(request, mostBodyBytes)).toString('utf8'));
  if (document === undefined) throw new Problem('malformed_request', { detail: 'The body is not JSON.' });
  return document;
}

function parse(shape: z.ZodType | undefined, value: unknown): unknown {
  if (shape === undefined) return undefined;
  const stray = takeOutProtoKeys(value).map((path) => ({ path: toPath(path), message: noSuchField }));
  const result = shape.safeParse(value);
  if (result.success && stray.length === 0) return result.data;
  const fields = [...stray, ...(result.success ? [] : toFields(result.error))];
  const names = fields.map(({ path }) => path || 'the body').join(', ');
  throw new Problem('invalid_fields', { detail: `Look at ${names}.`, fields });
}

const noSuchField = 'There is no such field; check its spelling.';

function toFields(error: z.ZodError): FieldFault[] {
  return error.issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [{ path: toPath(issue.path), message: issue.message }];
    return issue.keys.map((key) => ({ path: toPath([...issue.path, key]), message: noSuchField }));
  });
}

/** Writes an endpoint's result. It is validated against the answer's schema, so that nothing undocumented is sent. */
async function toAnswer(endpoint: Runnable, result: unknown): Promise<Response> {
  if (result instanceof Response) return result;
  const reply = result instanceof Reply ? result : new Reply(result, {});
  const headers = new Headers();
  for (const [name, value] of Object.entries(reply.headers))
    headers.append(name, name === 'location' ? withMasks(value) : value);
  if (endpoint.answer === undefined) {
    return new Response(null, { status: reply.status ?? endpoint.status ?? 204, headers });
  }
  headers.set('content-type', 'application/json');
  const body = await write(endpoint.answer, reply.body);
  return new Response(body, { status: reply.status ?? endpoint.status ?? 200, headers });
}

/** Writes a body as JSON. Items of lists are validated and written one by one, to keep the event loop free. */
async function write(shape: z.ZodType, body: unknown): Promise<string> {
  if (!(shape instanceof z.ZodObject) || !isMapping(body)) return toShownJson(z.parse(shape, body));
  const lists = new Map<string, string>();
  for (const [name, inner] of Object.entries<unknown>(shape.shape)) {
    const items = body[name];
    if (!(inner instanceof z.ZodArray) || !Array.isArray(items)) continue;
    const written = await inBackground.inSlices(items, (item) => toShownJson(z.parse(inner.element, item)));
    lists.set(name, `[${written.join(',')}]`);
  }
  const rest = z.parse(shape, { ...body, ...Object.fromEntries(lists.keys().map((name) => [name, []])) });
  const fields = Object.entries(rest).flatMap(([name, value]) =>
    value === undefined ? [] : [`${JSON.stringify(name)}:${lists.get(name) ?? toShownJson(value)}`],
  );
  return `{${fields.join(',')}}`;
}

/** JSON in which texts that look like secrets are masked; names contain a service's secret only by mistake. */
const toShownJson = (value: unknown): string => withMasks(JSON.stringify(value));

function toResponse(problem: Problem): Response {
  const headers = { 'content-type': 'application/problem+json', ...problem.headers };
  return new Response(toShownJson(problem.body()), { status: problem.status, headers });
}

/** Whether the store failed; compared by name, because the store's error class cannot be imported here. */
const isStoreAway = (error: Error): boolean => error.name === 'StoreError';

export async function readBody(request: Request, limitBytes: number): Promise<Buffer> {
  const tooLarge = (): Problem =>
    new Problem('body_too_large', { detail: `The body may have ${limitBytes} bytes at most; send less.` });
  if (Number(request.headers.get('content-length') ?? 0) > limitBytes) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > limitBytes) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof Problem) throw error;
    // A client that disconnects early must not fill the log.
    throw new Problem('malformed_request', { detail: 'The body broke off; send it again.' });
  }
  return Buffer.concat(chunks);
}
