/** Calls the admin API: JSON in and out; one error class has the faulty fields. */

import { useSyncExternalStore } from 'react';
import type { FieldFault, ProblemBody, ProblemCode } from '../../../../src/admin/contract.ts';
import {
  type AnswerOf,
  type AnyAddress,
  type AskedParts,
  type EndpointKey,
  methodOf,
  type Optional,
  writeAddress,
} from './asking.ts';

interface Flag {
  get(): boolean;
  set(value: boolean): void;
  subscribe(listener: () => void): () => void;
}

function createFlag(): Flag {
  let value = false;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (next === value) return;
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Reads a flag of the whole console, and renders again when it changes. */
export function useFlag(flag: Flag): boolean {
  return useSyncExternalStore(flag.subscribe, flag.get);
}

/** Whether the last request to the gateway failed. */
export const unreachable = createFlag();

/** Whether the session ended while its member was at work: the shell then asks for sign-in above the page. */
export const expired = createFlag();

/** The error that the server reported, or why the server could not be reached. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: ProblemCode | 'unreachable';
  readonly fields: readonly FieldFault[];

  constructor(message: string, status: number, code: ProblemCode | 'unreachable', fields: readonly FieldFault[] = []) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.fields = fields;
  }
}

export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.code === 'not_found';

/** A document with its version, which a write sends as `If-Match`. */
export interface Versioned<T> {
  readonly data: T;
  readonly etag: string | undefined;
}

/** The headers for changing a version that was seen. Without a version, the element must be new. */
export const toCondition = (etag: string | undefined): Readonly<Record<string, string>> =>
  etag === undefined ? { 'if-none-match': '*' } : { 'if-match': etag };

interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Accepts answers with an error status, which the caller reads itself; all others become errors. */
  readonly accepts?: (response: Response) => boolean;
}

type AskOptions<K extends EndpointKey> = AskedParts<K> & CallOptions;
/** Options of a streaming call. A form is sent as a form; any other body as JSON. */
type SendOptions<K extends EndpointKey> = Omit<AskOptions<K>, 'body'> & { readonly body?: unknown };
type AnyOptions = CallOptions & AnyAddress & { readonly body?: unknown };

let csrfToken = '';

/** Stores the CSRF token, which every answer about the session renews. */
export function setCsrfToken(token: string | null): void {
  csrfToken = token ?? '';
}

/** Called when the session has ended, so that the shell asks for a sign-in above the open form. */
let onSignedOut: () => void = () => undefined;
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

/** Called when the CSRF token is invalid; true: a new one was fetched, and the request may be repeated. */
let onForged: () => Promise<boolean> = async () => false;
export function whenForged(listener: () => Promise<boolean>): void {
  onForged = listener;
}

/** Called when a request needs re-authentication; true: the member did so, and the request may be repeated. */
let onProofNeeded: () => Promise<boolean> = async () => false;
export function whenProofNeeded(listener: () => Promise<boolean>): void {
  onProofNeeded = listener;
}

/** Calls an endpoint: `await ask('GET /api/keys/:id', { params: { id } })`. The endpoint decides the types of parameters and answer. */
export async function ask<K extends EndpointKey>(key: K, ...given: Optional<AskOptions<K>>): Promise<AnswerOf<K>> {
  return (await askVersioned(key, ...given)).data;
}

export async function askVersioned<K extends EndpointKey>(
  key: K,
  ...given: Optional<AskOptions<K>>
): Promise<Versioned<AnswerOf<K>>>;
export async function askVersioned(key: EndpointKey, options: AnyOptions = {}): Promise<Versioned<unknown>> {
  const response = await exchange(key, options);
  const text = await response.text();
  return { data: text === '' ? undefined : JSON.parse(text), etag: response.headers.get('etag') ?? undefined };
}

/** Calls an endpoint and returns the response itself, for callers that read its stream. */
export function send<K extends EndpointKey>(key: K, ...given: Optional<SendOptions<K>>): Promise<Response>;
export function send(key: EndpointKey, options: AnyOptions = {}): Promise<Response> {
  return exchange(key, options);
}

async function exchange(key: EndpointKey, options: AnyOptions): Promise<Response> {
  const wanted = (response: Response): boolean => response.ok || options.accepts?.(response) === true;
  const response = await dispatch(key, options);
  if (wanted(response)) return response;
  const error = await toError(response);
  if (!(await isMended(error))) throw error;
  const again = await dispatch(key, options);
  if (wanted(again)) return again;
  throw await toError(again);
}

async function isMended({ code }: ApiError): Promise<boolean> {
  if (code === 'forged_request') return onForged();
  return code === 'proof_needed' && onProofNeeded();
}

async function dispatch(
  key: EndpointKey,
  { params, query, body, headers = {}, signal }: AnyOptions,
): Promise<Response> {
  const method = methodOf(key);
  try {
    const response = await fetch(writeAddress(key, { params, query }), {
      method,
      credentials: 'same-origin',
      headers: {
        ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
        ...(method === 'GET' ? {} : { 'x-postern-csrf': csrfToken }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    unreachable.set(false);
    return response;
  } catch (error) {
    if (signal?.aborted) throw error;
    unreachable.set(true);
    throw new ApiError('The gateway cannot be reached; what you typed is still here. Try again.', 0, 'unreachable');
  }
}

async function toError(response: Response): Promise<ApiError> {
  const problem = (await response.json().catch(() => undefined)) as ProblemBody | undefined;
  if (problem?.code === 'sign_in_needed') {
    onSignedOut();
    return new ApiError('Your session has ended. Sign in, and do it again.', response.status, problem.code);
  }
  if (problem === undefined)
    return new ApiError(`The gateway answered ${response.status}.`, response.status, 'internal_error');
  return new ApiError(problem.detail, problem.status, problem.code, problem.fields);
}

interface ListPage<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

export async function readAll<T>(readPage: (before: string | undefined) => Promise<ListPage<T>>): Promise<T[]> {
  const found: T[] = [];
  for (let before: string | undefined; ; ) {
    const { items, next } = await readPage(before);
    found.push(...items);
    if (next === null) return found;
    before = next;
  }
}
