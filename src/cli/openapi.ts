/** `postern openapi`: prints the OpenAPI 3.1 document of the gateway, built from routes and errors, or that of the admin API. */

import * as z from 'zod';
import { openapiOf, toAdminDocument, toSchema as toSchemaOf } from '../admin/api/openapi.ts';
import { endpoints } from '../admin/endpoints.ts';
import { clientApis } from '../apis/index.ts';
import { loadConfiguration } from '../config/load.ts';
import { type ClientApi, pathsUnder } from '../core/client-api.ts';
import { errorMember } from '../core/error-shape.ts';
import { type ErrorCode, errorTable, upstreamCodes } from '../core/errors.ts';
import type { ObjectRoute } from '../core/object-route.ts';
import type { QueryGrammar } from '../core/query.ts';
import { type ApiEntry, type Route, routeOfCustom } from '../core/route.ts';
import { type RerankShape, rerankShapes } from '../core/translation.ts';
import { writeJson } from '../lib/json/json-text.ts';
import { recordOf } from '../lib/record-of.ts';
import { objectRoutes, routes } from '../routes/index.ts';
import { version } from '../version.ts';
import { type CommandContext, commandOf, configUsage } from './command.ts';
import { faultless } from './output.ts';

type Json = Record<string, unknown>;

const text = { type: 'string' };
const textList = { type: 'array', items: text };
const wordOf = (path: string): string => path.replaceAll(/[^A-Za-z0-9]+/g, '_');
const asJson = (schema: Json): Json => ({ 'application/json': { schema } });

export const openapi = commandOf('openapi', `--admin ${configUsage}`, async (context) => {
  const { values, stdout } = context;
  const document =
    values.admin === true ? toAdminDocument(endpoints, version) : toDocument(await customRoutesIn(context));
  stdout(JSON.stringify(document, null, 2));
  return 0;
});

async function customRoutesIn(context: CommandContext): Promise<readonly Route[]> {
  if (context.values.config === undefined) return [];
  const { snapshot } = faultless(await loadConfiguration(context));
  return snapshot.customRoutes.map(routeOfCustom);
}

function toDocument(own: readonly Route[]): Json {
  const paths: Json = {};
  for (const route of own) paths[route.path] = { [route.own?.method.toLowerCase() ?? 'post']: toOwnOperation(route) };
  for (const route of routes) {
    if (route.entry !== undefined) {
      addMapping(paths, route, route.entry);
      continue;
    }
    paths[route.path] = { post: toOperation(route) };
    for (const [path, clientApi] of Object.entries(route.clientApiPaths ?? {})) {
      paths[path] = { post: { ...toOperation(route, path), ...atClientApi(path, clientApi, `As \`${route.path}\``) } };
    }
    for (const [path, shape] of Object.entries(route.shapedPaths ?? {})) {
      paths[path] = { post: { ...toOperation(route), ...forClientsOf(shape, route, path) } };
    }
  }
  for (const route of objectRoutes) addObjectRoute(paths, route);
  for (const clientApi of clientApis) addFixedEndpoints(paths, clientApi);
  paths['/v1/models'] = { get: modelList };
  paths['/v1/models/{model}'] = { get: oneModel };
  paths['/healthz'] = { get: probe('The process is alive.', { 200: 'Alive.' }) };
  paths['/readyz'] = { get: probe('It takes requests.', { 200: 'Ready.', 503: 'Starting, draining, or no journal.' }) };
  return {
    ...openapiOf('Postern', version, about),
    servers: [{ url: 'http://127.0.0.1:4000' }],
    security: [{ bearer: [] }, { apiKey: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'Also taken: api-key and x-goog-api-key.',
        },
      },
      schemas: { Error: toSchemaOf(errorShape, 'input'), Model: toSchemaOf(modelShape, 'input') },
      responses: errorResponses(),
    },
  };
}

const about =
  'Requests and answers of an OpenAI-compatible upstream pass unchanged: the schemas contain the fields that the gateway reads.';

/** Describes a route at one of its paths, by default its main path. */
function toOperation(route: Route, path = route.path): Json {
  const streamed = route.row.mayStream ? { 'text/event-stream': { schema: text } } : {};
  return {
    operationId: route.label === 'openai' ? route.operation : `${route.label}_${route.verb ?? route.operation}`,
    tags: [route.operation],
    ...toParameters(route),
    requestBody: { required: true, content: toRequestContent(route, path) },
    responses: {
      200: {
        description:
          "The upstream's answer: unchanged, or in this shape where it has another (`x-postern-translated`).",
        headers: { 'x-request-id': { schema: text }, 'x-postern-translated': { schema: text } },
        content: { ...toAnswerContent(route), ...streamed },
      },
      ...errorReferences,
    },
  };
}

function toAnswerContent({ row: { answers } }: Route): Json {
  const bytes = { schema: { type: 'string', format: 'binary' } };
  const types = answers.filter((kind) => kind === 'object' || kind === 'array');
  const [only] = types;
  return {
    ...(only !== undefined && { 'application/json': { schema: { type: types.length === 1 ? only : types } } }),
    ...(answers.includes('text') && { 'text/plain': { schema: text } }),
    ...(answers.includes('audio') && { 'audio/*': bytes }),
  };
}

/** Describes a custom route, whose body and answer are the upstream's. */
function toOwnOperation(route: Route): Json {
  const { own, path, form, query = {} } = route;
  const model = own?.model;
  const field = model?.from === 'field' ? model.name : undefined;
  const schema = {
    type: 'object',
    ...(field !== undefined && { properties: { [field]: text }, required: [field] }),
    additionalProperties: true,
  };
  const header = model?.from === 'header' ? [{ name: model.name, in: 'header', required: true, schema: text }] : [];
  const parameters = [...modelIn(path), ...header, ...queryParameters(query)];
  const content = { 'application/json': { schema }, ...(form !== undefined && { 'multipart/form-data': { schema } }) };
  return {
    operationId: `own_${wordOf(path).replaceAll(/^_|_$/g, '')}`,
    tags: ['own'],
    summary: `A route of the operator's own${own === undefined ? '' : ` (${own.label})`}.`,
    ...(parameters.length > 0 && { parameters }),
    ...(own?.method === 'POST' && { requestBody: { required: true, content } }),
    responses: { 200: { description: 'What the upstream answers, byte for byte.' }, ...errorReferences },
  };
}

function addObjectRoute(paths: Json, { route, action, method, query, summary }: ObjectRoute): void {
  const { form } = route;
  const isSent = action === 'make' && form !== undefined;
  const content = isSent ? { 'multipart/form-data': { schema: toFormSchema(form.required) } } : undefined;
  for (const path of [route.path, ...Object.keys(route.clientApiPaths ?? {})]) {
    const described = {
      operationId: `${method.toLowerCase()}_${wordOf(path).replaceAll(/^_|_$/g, '')}`,
      tags: [route.operation],
      summary,
      parameters: [...(action === 'about' ? [idParameter] : []), ...queryParameters(query)],
      ...(content && { requestBody: { required: true, content } }),
      responses: { 200: anyAnswer, ...errorReferences },
    };
    paths[path] = { ...Object(paths[path]), [method.toLowerCase()]: described };
  }
}

function queryParameters(query: QueryGrammar): readonly Json[] {
  return Object.entries(query).map(([name, { form, isList }]) => ({
    name,
    in: 'query',
    required: false,
    description: `${form[0]?.toUpperCase()}${form.slice(1)}.`,
    schema: isList === true ? textList : text,
  }));
}

const idParameter = { name: 'id', in: 'path', required: true, schema: text };

/** Describes a mapping of a client API, at each of its paths. */
function addMapping(paths: Json, route: Route, { clientApi, mapping }: ApiEntry): void {
  for (const path of [route.path, ...route.aliases]) {
    paths[path] = {
      post: {
        ...toOperation(route, path),
        ...atClientApi(path, clientApi, mapping.summary),
        responses: answersOf(clientApi),
      },
    };
  }
}

function addFixedEndpoints(paths: Json, clientApi: ClientApi): void {
  for (const endpoint of clientApi.fixedEndpoints) {
    const { method, paths: own, summary, query } = endpoint;
    for (const path of pathsUnder(clientApi, own)) {
      const described = { tags: ['doors'], ...atClientApi(path, clientApi, summary, query) };
      const answers =
        'text' in endpoint ? { security: [], responses: { 200: anyText } } : { responses: answersOf(clientApi) };
      paths[path] = { [method.toLowerCase()]: { ...described, ...answers } };
    }
  }
}

function atClientApi(path: string, { title, error }: ClientApi, summary: string, query: QueryGrammar = {}): Json {
  const parameters = [...modelIn(path), ...queryParameters(query)];
  return {
    operationId: wordOf(path.slice(1).replaceAll(/[{}]/g, '')) || 'root',
    summary: summary.endsWith('.') ? summary : `${summary}, for clients of ${title}.`,
    ...(parameters.length > 0 && { parameters }),
    ...(error !== undefined && { description: `Errors are written as clients of ${title} read them.` }),
  };
}

/** The answers of a client API, whose format the other service describes. */
function answersOf(clientApi: ClientApi): Json {
  if (clientApi.error === undefined) return { 200: anyAnswer, ...errorReferences };
  const said = clientApi.error({ status: 400, message: '', id: '', code: '', param: '' });
  const description = `An error, as clients of ${clientApi.title} read it.`;
  return {
    200: anyAnswer,
    default: { description, content: asJson(schemaOf(JSON.parse(writeJson(said).toString()))) },
  };
}

/** The JSON Schema of values that are like the sample. */
function schemaOf(sample: unknown): Json {
  if (typeof sample === 'string') return text;
  if (typeof sample === 'number') return { type: Number.isInteger(sample) ? 'integer' : 'number' };
  if (Array.isArray(sample)) return { type: 'array', items: sample.length === 0 ? {} : schemaOf(sample[0]) };
  if (typeof sample !== 'object' || sample === null) return {};
  const properties = Object.fromEntries(Object.entries(sample).map(([name, value]) => [name, schemaOf(value)]));
  return { type: 'object', properties };
}

const anyText = { description: 'The answer.', content: { 'text/plain': { schema: text } } };
const anyAnswer = { description: 'The answer.', content: asJson({}) };

function forClientsOf(shape: RerankShape, route: Route, path: string): Json {
  const rerank = route.operation === 'rerank' ? `, with the answer in the shape \`${shape}\`` : '';
  return {
    operationId: path.slice(1).replaceAll('/', '_'),
    summary: `As \`${route.path}\`, for clients that were written for another service${rerank}.`,
    description: `Errors have \`${errorMember[shape]}\` beside \`error\`.`,
  };
}

function toRequestContent(route: Route, path: string): Json {
  const { form } = route;
  // A client API may name the model elsewhere, or use the operator's default.
  const needsModel = route.model.from === 'body' && route.entry === undefined && !path.includes('{model}');
  const json = asJson(toRequestSchema(route, needsModel));
  if (form === undefined) return json;
  const parts = { model: 'string', ...form.required };
  const multipart = { 'multipart/form-data': { schema: toFormSchema(parts, needsModel ? [] : ['model']) } };
  return form.only ? multipart : { ...json, ...multipart };
}

/** The schema of a form; fields of kind `object` are files. */
function toFormSchema(parts: Readonly<Record<string, string>>, optional: readonly string[] = []): Json {
  const file = { type: 'string', format: 'binary' };
  const properties: Json = {};
  for (const [name, kinds] of Object.entries(parts)) {
    if (!kinds.includes('object')) properties[name] = toSchema(kinds);
    else properties[name] = kinds.includes('object[]') ? { anyOf: [file, { type: 'array', items: file }] } : file;
  }
  const required = Object.keys(parts).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: true };
}

function toRequestSchema(route: Route, needsModel: boolean): Json {
  const properties: Json = route.model.from === 'body' ? { model: text } : {};
  for (const [name, kinds] of Object.entries(route.required)) properties[name] = toSchema(kinds);
  for (const [name, kinds] of Object.entries(route.optional)) properties[name] = nullable(toSchema(kinds));
  for (const { name, kinds } of Object.values(route.standIns ?? {})) properties[name] = toSchema(kinds);
  const fixed = Object.keys(route.required).filter((name) => route.standIns?.[name] === undefined);
  const required = needsModel ? ['model', ...fixed] : fixed;
  const choices = Object.entries(route.standIns ?? {}).map(([name, standIn]) => ({
    anyOf: [{ required: [name] }, { required: [standIn.name] }],
  }));
  return { type: 'object', properties, required, ...choices[0], additionalProperties: true };
}

/** The JSON Schema of kinds such as `string | string[]`. */
function toSchema(kinds: string): Json {
  const schemas = kinds.split('|').map((part) => {
    const kind = part.trim();
    return kind.endsWith('[]') ? { type: 'array', items: { type: kind.slice(0, -2) } } : { type: kind };
  });
  const [only] = schemas;
  return schemas.length === 1 && only !== undefined ? only : { anyOf: schemas };
}

function toParameters(route: Route): Json {
  const parameters = [
    ...(route.model.from === 'path' ? [modelInPath] : []),
    ...(route.operation === 'rerank' ? [shapeParameter] : []),
    ...queryParameters(route.query ?? {}),
  ];
  return parameters.length === 0 ? {} : { parameters };
}

const shapeParameter = {
  name: 'x-postern-shape',
  in: 'header',
  required: false,
  description: 'The shape of the answer, for clients that were written for another service.',
  schema: { type: 'string', enum: [...rerankShapes] },
};

const nullable = (schema: Json): Json => ({ anyOf: [schema, { type: 'null' }] });

const modelInPath = modelParameter('The model; slashes may stand plain or encoded.');
const modelIn = (path: string): Json[] => (path.includes('{model}') ? [modelInPath] : []);

function modelParameter(description: string): Json {
  return { name: 'model', in: 'path', required: true, description, schema: text };
}

const errorCodesByStatus = Map.groupBy(
  (Object.keys(errorTable) as ErrorCode[]).filter((code) => errorTable[code].status !== 499),
  (code) => errorTable[code].status,
);

function errorResponses(): Json {
  const responses: Json = {};
  for (const [status, codes] of errorCodesByStatus) {
    responses[`Error${status}`] = {
      description: codes.map((code) => `\`${code}\`: ${errorTable[code].message}`).join('\n\n'),
      content: asJson({ $ref: '#/components/schemas/Error' }),
    };
  }
  return responses;
}

const errorReference = (status: number): Json => ({ $ref: `#/components/responses/Error${status}` });

const errorReferences: Json = Object.fromEntries(
  errorCodesByStatus.keys().map((status) => [status, errorReference(status)]),
);

const shapesWith = (member: string): string =>
  rerankShapes
    .filter((shape) => errorMember[shape] === member)
    .map((shape) => `\`${shape}\``)
    .join(' and ');

const errorShape = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable(),
    code: z.union([
      z.enum([...Object.keys(errorTable), ...upstreamCodes]),
      z.string().nullable().describe("The upstream's own."),
    ]),
    upstream: z.unknown().optional().describe('The original error of the upstream, if it was converted to this shape.'),
  }),
  ...recordOf([...new Set(Object.values(errorMember))], (member) =>
    z
      .string()
      .optional()
      .describe(`The message once more, for clients of ${shapesWith(member)}.`),
  ),
});

const texts = z.array(z.string());

const cohereShape = z.object({
  name: z.string().optional().describe("For Cohere's clients, as are the endpoints."),
  endpoints: texts.optional(),
});

const modelShape = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.string(),
  operations: texts,
  context_length: z.int().optional().describe('Context length in tokens, if set by the operator.'),
  max_output_tokens: z.int().optional().describe('Maximum of output tokens, if set by the operator.'),
  dimensions: z.int().optional().describe('Width of its vectors, if set by the operator.'),
  space: z.string().optional().describe('Vector space: only vectors of the same space can be compared.'),
  pricing: z
    .record(z.string(), z.string())
    .optional()
    .describe('US dollars per unit, as decimal text, at the most expensive of its upstreams.'),
  type: z.string().optional().describe("For Mistral's clients, as are the capabilities."),
  capabilities: z.record(z.string(), z.boolean()).optional(),
  ...cohereShape.shape,
});

const reference = { $ref: '#/components/schemas/Model' };

const modelList = {
  operationId: 'listModels',
  tags: ['models'],
  responses: {
    200: {
      description: "The visible models that the caller's key may use.",
      content: asJson({
        type: 'object',
        required: ['object', 'data'],
        properties: {
          object: { const: 'list' },
          data: { type: 'array', items: reference },
          models: { type: 'array', items: toSchemaOf(cohereShape, 'input') },
        },
      }),
    },
    401: errorReference(401),
  },
};

const oneModel = {
  operationId: 'retrieveModel',
  tags: ['models'],
  parameters: [modelParameter('The ID of a visible model; slashes may stand plain or encoded.')],
  responses: {
    200: { description: 'The model.', content: asJson(reference) },
    401: errorReference(401),
    404: errorReference(404),
  },
};

function probe(summary: string, statuses: Record<number, string>): Json {
  const responses = Object.entries(statuses).map(([status, description]) => [status, { description }]);
  return { summary, tags: ['health'], security: [], responses: Object.fromEntries(responses) };
}
