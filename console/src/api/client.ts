/** Asks the admin API: JSON in, JSON out, and what goes wrong as one kind of error that knows its fields. */

import type { FieldFault, ProblemBody, ProblemCode } from '../../../src/admin/contract.ts';

/** What the server said against it, or why it could not be reached. */
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

/** A document with the version that it had when it was read: what a write sends back as `If-Match`. */
export interface Versioned<T> {
  readonly data: T;
  readonly etag: string | undefined;
}

export interface AskOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

let csrfToken = '';

/** Every answer about the session brings the one that holds from then on. */
export function useCsrfToken(token: string | null): void {
  csrfToken = token ?? '';
}

/** Told when the session has ended, so that the shell can ask for it again above what is being typed. */
let onSignedOut: () => void = () => undefined;
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

export async function ask<T>(path: string, options: AskOptions = {}): Promise<T> {
  return (await askVersioned<T>(path, options)).data;
}

export async function askVersioned<T>(path: string, options: AskOptions = {}): Promise<Versioned<T>> {
  const response = await send(path, options);
  const text = await response.text();
  return { data: (text === '' ? undefined : JSON.parse(text)) as T, etag: response.headers.get('etag') ?? undefined };
}

/** The answer itself, for those who read it as it comes. */
export async function send(
  path: string,
  { method = 'GET', body, headers = {}, signal }: AskOptions = {},
): Promise<Response> {
  const response = await fetch(path, {
    method,
    credentials: 'same-origin',
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(method === 'GET' ? {} : { 'x-postern-csrf': csrfToken }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ApiError('The gateway cannot be reached; what you typed is still here. Try again.', 0, 'unreachable');
  });
  if (response.ok) return response;
  throw await toError(response);
}

async function toError(response: Response): Promise<ApiError> {
  const problem = (await response.json().catch(() => undefined)) as ProblemBody | undefined;
  if (problem?.code === 'sign_in_needed') onSignedOut();
  if (problem === undefined)
    return new ApiError(`The gateway answered ${response.status}.`, response.status, 'internal_error');
  return new ApiError(problem.detail, problem.status, problem.code, problem.fields);
}
