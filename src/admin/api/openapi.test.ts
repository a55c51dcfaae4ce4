import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAdmin } from '../../../test/support/console/admin.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { endpoints } from '../endpoints.ts';
import { problemTable } from '../problem.ts';
import { toAdminDocument } from './openapi.ts';

type Json = Record<string, unknown>;

const document = JSON.parse(JSON.stringify(toAdminDocument(endpoints, '1.2.3')));
const operations: [path: string, method: string, operation: Json][] = Object.entries<Json>(document.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, string, Json] => [path, method, operation as Json]),
);

function* walk(value: unknown): Generator<Json> {
  if (Array.isArray(value)) for (const one of value) yield* walk(one);
  if (!isMapping(value)) return;
  yield value;
  for (const one of Object.values(value)) yield* walk(one);
}

function resolve(pointer: string): unknown {
  return pointer
    .slice(2)
    .split('/')
    .reduce<unknown>(
      (at, step) => (isMapping(at) ? at[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
      document,
    );
}

test('the OpenAPI document lists every endpoint once, with its operation ID and required role', () => {
  assert.equal(document.openapi, '3.1.0');
  assert.equal(operations.length, endpoints.length);
  const ids = operations.map(([, , { operationId }]) => operationId);
  assert.equal(new Set(ids).size, ids.length);
  for (const [path, method, operation] of operations) {
    assert.match(String(operation.operationId), /^[a-z][A-Za-z0-9]+$/);
    assert.ok(operation['x-required-role'], `${method} ${path}`);
    assert.ok(String(operation.summary).length > 0 && String(operation.description).length > 0);
  }
});

test('every $ref in the OpenAPI document resolves', () => {
  const references = [...walk(document)].flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : []));
  assert.ok(references.length > 0);
  for (const reference of references) {
    assert.ok(reference.startsWith('#/'), reference);
    assert.notEqual(resolve(reference), undefined, reference);
  }
});

test('the OpenAPI document declares each path parameter once, as required, and no others', () => {
  for (const [path, method, operation] of operations) {
    assert.match(path, /^\/[A-Za-z0-9/{}._-]+$/, path);
    const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const parameters = (operation.parameters ?? []) as {
      name: string;
      in: string;
      required: boolean;
      schema: unknown;
    }[];
    const inPath = parameters.filter((parameter) => parameter.in === 'path');
    assert.deepEqual(
      inPath.map(({ name }) => name),
      wanted,
      `${method} ${path}`,
    );
    assert.ok(inPath.every(({ required }) => required));
    for (const parameter of parameters) {
      assert.ok(['path', 'query', 'header', 'cookie'].includes(parameter.in));
      assert.ok(isMapping(parameter.schema), `${path} ${parameter.name}`);
    }
    const names = parameters.map(({ name, in: where }) => `${where} ${name}`);
    assert.equal(new Set(names).size, names.length);
  }
});

test('the OpenAPI document is valid OpenAPI 3.1: known fields, described responses, declared security', () => {
  const schemes = Object.keys(document.components.securitySchemes);
  const known = [
    'operationId',
    'summary',
    'description',
    'tags',
    'security',
    'parameters',
    'requestBody',
    'responses',
    'x-required-role',
    'x-fresh-proof',
  ];
  const tags = new Set(document.tags.map(({ name }: { name: string }) => name));
  for (const [path, method, operation] of operations) {
    assert.ok(['get', 'put', 'post', 'delete', 'patch'].includes(method));
    for (const field of Object.keys(operation)) assert.ok(known.includes(field), `${path}: ${field}`);
    for (const tag of operation.tags as string[]) assert.ok(tags.has(tag), tag);
    for (const requirement of (operation.security ?? document.security) as Json[]) {
      for (const name of Object.keys(requirement)) assert.ok(schemes.includes(name), name);
    }
    for (const [status, response] of Object.entries(operation.responses as Json)) {
      assert.match(status, /^([1-5]\d\d|default)$/);
      assert.ok(isMapping(response) && ('$ref' in response || typeof response.description === 'string'));
    }
    assert.ok(!('requestBody' in operation) || method !== 'get', path);
  }
  for (const { type, schema } of walk(document)) {
    if (typeof type === 'string' && schema === undefined) continue;
    if (schema !== undefined) assert.ok(isMapping(schema));
  }
});

test('the OpenAPI document requires a CSRF token for writes with a session, and none for the session endpoint', () => {
  for (const [path, method, { security, 'x-required-role': role, 'x-fresh-proof': isForPeople }] of operations) {
    const tokens = isForPeople === true ? [] : [{ bearer: [] }];
    if (role === 'anyone') assert.deepEqual(security, [], path);
    else if (method !== 'get') assert.deepEqual(security, [{ session: [], csrf: [] }, ...tokens], path);
  }
});

test('the OpenAPI document describes errors with their codes', () => {
  assert.deepEqual(document.components.schemas.Problem.properties.code.enum, Object.keys(problemTable));
});

test('any signed-in member may read the OpenAPI document', async (t) => {
  const { ask, become } = await openAdmin(t, { role: 'viewer' });
  const { status, json } = await ask('GET', '/api/openapi.json');
  assert.deepEqual([status, json.openapi], [200, '3.1.0']);
  assert.ok(json.paths['/api/ledger/{id}/capture'].get);
  become(null);
  assert.equal((await ask('GET', '/api/openapi.json')).status, 401);
});
