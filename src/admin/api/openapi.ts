/** Builds the OpenAPI 3.1 document of the admin API from the endpoints' schemas. */

import * as z from 'zod';
import { type Role, roles } from '../../core/role.ts';
import { atOnce } from '../../lib/time-slices.ts';
import type { Endpoint, Needed } from '../endpoint.ts';
import { problemBody } from '../problem.ts';
import { csrfHeader } from './gate.ts';

type Json = Record<string, unknown>;

/** Converts a path such as `/api/models/:id` to `/api/models/{id}`. */
export const toTemplate = (path: string): string => path.replace(/:(\w+)(\{[^}]*\})?/g, '{$1}');

export const toAdminDocument = (endpoints: readonly Endpoint[], version: string): Json =>
  atOnce(describing(endpoints, version));

/** Builds the document. It may pause at every `yield`. */
export function* describing(endpoints: readonly Endpoint[], version: string): Generator<undefined, Json, undefined> {
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints) {
    yield;
    const template = toTemplate(endpoint.path);
    paths[template] = { ...paths[template], [endpoint.method.toLowerCase()]: toOperation(endpoint) };
  }
  return {
    ...openapiOf('Postern admin API', version, about()),
    servers: [{ url: '/' }],
    tags: [...new Set(endpoints.map(({ tag }) => tag))].map((name) => ({ name })),
    security: signedIn,
    paths,
    components: {
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'postern_session',
          description: 'Set by signing in; over https it is called `__Host-postern`.',
        },
        csrf: {
          type: 'apiKey',
          in: 'header',
          name: csrfHeader,
          description: 'With the session cookie, every write bears the `csrfToken` of `GET /api/session`.',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'An API token, made in the settings of the console.' },
      },
      schemas: { Problem: toSchema(problemBody, 'input') },
      responses: {
        Problem: { description: 'Why not.', content: { 'application/problem+json': { schema: problemReference } } },
      },
    },
  };
}

/** The members with which every document begins. */
export const openapiOf = (title: string, version: string, description: string): Json => ({
  openapi: '3.1.0',
  info: { title, version, description, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
});

export const roleFacts: Readonly<Record<Role, string>> = {
  viewer: 'Reads everything except secrets, captured bodies and the audit log.',
  editor: 'Also changes models, tests them and their upstreams, and uses the playground.',
  admin:
    'Also changes upstreams and their credentials, keys, projects and settings, and reads captured bodies and the audit log.',
  owner: 'Also invites and removes members, and gives roles.',
};

function about(): string {
  return [
    'The API of the console, also for scripts. Errors are problem details (RFC 9457).',
    ...roles.map((role) => `${role}: ${roleFacts[role]}`),
  ].join('\n\n');
}

const signedIn = [{ session: [] }, { bearer: [] }];
const signedInToWrite = [{ session: [], csrf: [] }, { bearer: [] }];

function toOperation(endpoint: Endpoint): Json {
  const { summary, tag, needs } = endpoint;
  const parameters = [...toParameters(endpoint), ...toHeaderParameters(endpoint)];
  return {
    operationId: toOperationId(endpoint),
    summary,
    description: describeAccess(endpoint),
    tags: [tag],
    'x-required-role': needs,
    ...(endpoint.proof === true && { 'x-fresh-proof': true }),
    ...securityOf(endpoint),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...toRequestBody(endpoint),
    responses: { ...toSuccess(endpoint), default: { $ref: '#/components/responses/Problem' } },
  };
}

/** The credentials that an endpoint accepts: no API token where it needs a recent proof of identity. */
function securityOf({ method, needs, proof }: Endpoint): Json {
  if (needs === 'anyone') return { security: [] };
  if (method === 'GET') return {};
  return { security: proof === true ? signedInToWrite.slice(0, 1) : signedInToWrite };
}

function describeAccess({ needs, proof }: Endpoint): string {
  const callers = describeCallers(needs);
  return proof === true ? `${callers} Needs a recent re-authentication; API tokens are refused.` : callers;
}

function describeCallers(needs: Needed): string {
  if (needs === 'anyone') return 'Public: needs no sign-in.';
  if (needs === 'member') return 'For signed-in members of any role; not for API tokens.';
  return `Needs the role ${needs}${needs === 'owner' ? '' : ' or a higher one'}.`;
}

/** A unique operation ID from method and path: `GET /api/ledger/:id/capture` becomes `getLedgerByIdCapture`. */
function toOperationId({ method, path }: Pick<Endpoint, 'method' | 'path'>): string {
  const words = toTemplate(path)
    .split('/')
    .filter((part) => part !== '' && part !== 'api')
    .flatMap((part) => (part.startsWith('{') ? ['by', part.slice(1, -1)] : part.split(/[^A-Za-z0-9]+/)));
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function toParameters({ path, params, query }: Endpoint): Json[] {
  const named = properties(params);
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: named.properties[name] ?? { type: 'string' },
  }));
  const asked = properties(query);
  const inQuery = Object.entries(asked.properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: asked.required.includes(name),
    ...(typeof schema.description === 'string' ? { description: schema.description } : {}),
    schema,
  }));
  return [...inPath, ...inQuery];
}

const header = (name: string, description: string): Json => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
});

function toHeaderParameters({ method, once, streams }: Endpoint): Json[] {
  const headers: Json[] = [];
  if (method === 'PUT') {
    headers.push(header('If-Match', 'The ETag of the version to change; required for a change.'));
    headers.push(header('If-None-Match', '`*`: create it if it does not exist.'));
  }
  if (once === true) headers.push(header('Idempotency-Key', 'Requests with the same key are executed once.'));
  if (streams === 'text/event-stream') headers.push(header('Last-Event-ID', 'Continues after this event.'));
  return headers;
}

function toRequestBody({ method, body, streams }: Endpoint): Json {
  if (body !== undefined) {
    const content = { 'application/json': { schema: toSchema(body, 'input') } };
    return { requestBody: { required: !body.isOptional(), content } };
  }
  // The raw body.
  if (streams !== undefined && method === 'POST') {
    return { requestBody: { required: true, content: { 'application/json': { schema: {} } } } };
  }
  return {};
}

function toSuccess({ status, answer, streams }: Endpoint): Json {
  const types = {
    ...(answer === undefined ? {} : { 'application/json': { schema: toSchema(answer, 'output') } }),
    ...(streams === undefined ? {} : { [streams]: { schema: { type: 'string' } } }),
  };
  if (Object.keys(types).length === 0) return { [status ?? 204]: { description: 'Done.' } };
  return { [status ?? 200]: { description: 'Done.', content: types } };
}

function properties(shape: z.ZodType | undefined) {
  const schema = shape === undefined ? {} : toSchema(shape, 'input');
  const names = (schema.required ?? []) as readonly string[];
  return { properties: (schema.properties ?? {}) as Readonly<Record<string, Json>>, required: names };
}

/** Converts a Zod schema to JSON Schema, with all schemas inlined because the document has no names for them. */
export function toSchema(shape: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    cycles: 'throw',
  });
  return schema;
}

const problemReference = { $ref: '#/components/schemas/Problem' };
