import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { families } from '../families/index.ts';
import { routes } from '../routes/index.ts';
import { toConfigSources } from './command.ts';
import { openapi } from './openapi.ts';

async function writeConfiguration(t: TestContext, document: object): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-openapi-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'postern.json');
  await writeFile(file, JSON.stringify(document));
  return file;
}

async function print(values: Readonly<Record<string, boolean | string>>) {
  const lines: string[] = [];
  const stdout = (line: string) => lines.push(line);
  const surroundings = { stdout, stderr: stdout, env: {}, cwd: tmpdir(), families };
  const context = { values, positionals: [], ...toConfigSources(values), ...surroundings };
  assert.equal(await openapi.run(context as unknown as Parameters<typeof openapi.run>[0]), 0);
  return JSON.parse(lines.join('\n'));
}

test("openapi prints the OpenAPI document of the gateway's API, or of the admin API on request", async () => {
  const gateway = await print({});
  const admin = await print({ admin: true });
  assert.deepEqual([gateway.openapi, admin.openapi], ['3.1.0', '3.1.0']);
  assert.ok('/v1/rerank' in gateway.paths && !('/api/ledger' in gateway.paths));
  assert.ok('/api/ledger/{id}' in admin.paths && !('/v1/rerank' in admin.paths));
});

test("openapi describes other services' rerank paths with the same request and the response in their shape", async () => {
  const { paths, components } = await print({});
  const shaped = routes.flatMap(({ path, shapedPaths = {} }) =>
    Object.entries(shapedPaths).map(([at, shape]) => ({ path, at, shape })),
  );
  assert.ok(shaped.some(({ at }) => at === '/voyage/v1/rerank'));
  for (const { path, at, shape } of shaped) {
    const { operationId, summary, description, ...rest } = paths[at].post;
    const { operationId: plainId, ...plain } = paths[path].post;
    assert.deepEqual(rest, plain, at);
    assert.equal(summary.includes(`in the shape \`${shape}\``), path === '/v1/rerank', at);
    assert.match(description, shape === 'cohere' ? /^Errors have `message`/ : /^Errors have `detail`/, at);
    assert.notEqual(operationId, plainId);
  }
  const operations: { operationId?: string }[] = Object.values(paths).flatMap((one) => Object.values(Object(one)));
  const ids = operations.flatMap(({ operationId }) => operationId ?? []);
  assert.equal(new Set(ids).size, ids.length);
  const { detail, message } = components.schemas.Error.properties;
  assert.deepEqual(
    [detail.description, message.description].map((text) => text.match(/`\w+`/g)),
    [
      ['`jina`', '`voyage`'],
      ['`cohere`', '`tei`'],
    ],
  );
});

test('openapi describes multipart forms by their parts, and text or audio responses by their media type', async () => {
  const { paths } = await print({});
  const operationAt = (path: string) => paths[path].post;
  const transcription = operationAt('/v1/audio/transcriptions');
  assert.deepEqual(Object.keys(transcription.requestBody.content), ['multipart/form-data']);
  const { schema } = transcription.requestBody.content['multipart/form-data'];
  assert.deepEqual(schema.required, ['model', 'file']);
  assert.deepEqual(schema.properties.file, { type: 'string', format: 'binary' });
  const { content } = transcription.responses[200];
  assert.deepEqual(Object.keys(content), ['application/json', 'text/plain', 'text/event-stream']);
  const edit = operationAt('/v1/images/edits').requestBody.content;
  assert.deepEqual(Object.keys(edit), ['application/json', 'multipart/form-data']);
  assert.ok('audio/*' in operationAt('/v1/audio/speech').responses[200].content);
});

test('openapi describes the paths of stored objects with their methods, ID and query parameters', async () => {
  const { paths } = await print({});
  const { get, delete: deletion } = paths['/v1/responses/{id}'];
  assert.deepEqual(get.parameters.map(({ name }: { name: string }) => name).slice(0, 2), ['id', 'include']);
  assert.deepEqual(deletion.parameters.length, 1);
  assert.ok('post' in paths['/openai/v1/responses/{id}/cancel']);
  const { get: list, post: made } = paths['/v1/files'];
  assert.deepEqual(
    list.parameters.map(({ in: location }: { in: string }) => location),
    ['query', 'query', 'query', 'query'],
  );
  const { schema } = made.requestBody.content['multipart/form-data'];
  assert.deepEqual([schema.required, made.parameters], [['file', 'purpose'], []]);
});

test('openapi describes custom routes if the configuration is given', async (t) => {
  const config = await writeConfiguration(t, {
    upstreams: [{ id: 'up', family: 'openai', api_key: 'x' }],
    models: [{ id: 'm', operations: ['own'], targets: [{ upstream: 'up' }] }],
    routes: [
      { path: '/v1/parse', label: 'parse', form: true, query: ['page'] },
      { path: '/v1/status/{model}', method: 'GET' },
      { path: '/v1/headed', model: { header: 'x-model' } },
    ],
  });
  const { paths } = await print({ config });
  assert.ok('/v1/rerank' in paths);
  const { requestBody, parameters, summary } = paths['/v1/parse'].post;
  assert.match(summary, /\(parse\)/);
  assert.deepEqual(Object.keys(requestBody.content), ['application/json', 'multipart/form-data']);
  assert.deepEqual(requestBody.content['application/json'].schema.required, ['model']);
  assert.deepEqual(
    parameters.map(({ name }: { name: string }) => name),
    ['page'],
  );
  assert.equal(paths['/v1/status/{model}'].get.requestBody, undefined);
  assert.equal(paths['/v1/headed'].post.parameters[0].in, 'header');
});

test("openapi requires no model in the body where the path contains it, and shows client APIs' own bodies", async () => {
  const { paths } = await print({});
  const { requestBody, responses } = paths['/bedrock/rerank'].post;
  assert.deepEqual(requestBody.content['application/json'].schema.required, [
    'queries',
    'sources',
    'rerankingConfiguration',
  ]);
  assert.deepEqual(responses.default.content['application/json'].schema, {
    type: 'object',
    properties: { __type: { type: 'string' }, message: { type: 'string' } },
  });
  const google = paths['/v1beta/models/{model}:embedContent'].post.responses.default.content['application/json'].schema;
  assert.deepEqual(google.properties.error.properties.code, { type: 'integer' });
  for (const [path, required] of [
    ['/v1/embeddings', ['model']],
    ['/openai/v1/embeddings', ['model']],
    ['/openai/deployments/{model}/embeddings', []],
    ['/tei/{model}/rerank', ['query']],
  ] as const) {
    const { schema } = paths[path].post.requestBody.content['application/json'];
    assert.deepEqual(schema.required, required, path);
    assert.equal(schema.properties.model.type, 'string');
  }
  const form =
    paths['/openai/deployments/{model}/audio/transcriptions'].post.requestBody.content['multipart/form-data'];
  assert.deepEqual(form.schema.required, ['file']);
});
