import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientApis } from '../apis/index.ts';
import { objectRoutes, routes } from '../routes/index.ts';
import { createRouter, type RouteMatch } from './router.ts';

const all = { routes, objectRoutes, clientApis };
const router = createRouter(all, '');

function modelIn(match: RouteMatch | undefined): string | undefined {
  return match?.kind === 'route' ? match.modelFromPath : undefined;
}

test('every route is found at its path and at all aliases', () => {
  for (const route of routes) {
    for (const path of [route.path, ...route.aliases]) {
      const match = router.find(path.replace(/\{model(?:=([^}]*)\*)?\}/, (_written, begins = '') => `${begins}m`));
      assert.equal(match?.kind === 'route' ? match.route : undefined, route, path);
    }
  }
});

test('the router ignores exactly one trailing slash', () => {
  assert.equal(router.find('/v1/embeddings/')?.path, '/v1/embeddings');
  assert.equal(router.find('/v1/engines/m/embeddings/')?.path, '/v1/engines/{model}/embeddings');
  assert.equal(router.find('/v1/embeddings//'), undefined);
});

test('the router finds no route for unknown, differently cased or percent-encoded paths', () => {
  for (const path of [
    '',
    '/v1',
    '/v1/embedding',
    '/V1/embeddings',
    '//v1/embeddings',
    '/v1/%65mbeddings',
    '/v3/rerank',
  ]) {
    assert.equal(router.find(path), undefined, path);
  }
});

test('the model in an engines path is the text up to the last /embeddings, percent-decoded once', () => {
  const names: Record<string, string> = {
    '/v1/engines/m/embeddings': 'm',
    '/v1/engines/BAAI/bge-m3/embeddings': 'BAAI/bge-m3',
    '/v1/engines/BAAI%2Fbge-m3/embeddings': 'BAAI/bge-m3',
    '/v1/engines/a/embeddings/embeddings': 'a/embeddings',
    '/engines/gemma%3A2b@v1/embeddings': 'gemma:2b@v1',
    '/v1/engines/%252e%252e/embeddings': '%2e%2e',
    '/v1/engines/%E6%A8%A1/embeddings': '模',
  };
  for (const [path, name] of Object.entries(names)) assert.equal(modelIn(router.find(path)), name, path);
});

test('a model name with path, query or control characters in an engines path matches no route', () => {
  const names = [
    '',
    '.',
    '..',
    'a/../b',
    '%2e%2e',
    '%2E',
    'a//b',
    '/a',
    'a/',
    'a%2f',
    '%00',
    'a%0d%0ab',
    '%7f',
    '%c2%85',
    'a%3fb',
    'a%23b',
    'a%5cb',
    'a\\b',
    '%ff',
    '%',
  ];
  for (const name of names) assert.equal(router.find(`/v1/engines/${name}/embeddings`), undefined, name);
});

test('GET /v1/models/ID finds IDs with slashes, plain or percent-encoded', () => {
  for (const path of ['/v1/models/local/bm25', '/models/local%2Fbm25', '/v1/models/local/bm25/']) {
    const match = router.find(path);
    assert.equal(match?.kind === 'model' ? match.id : undefined, 'local/bm25', path);
  }
  assert.equal(router.find('/v1/models/')?.kind, 'models');
  assert.equal(router.find('/v1/models/..'), undefined);
});

test('a base path applies to all routes, and health checks answer at the root as well', () => {
  const based = createRouter(all, '/ai');
  assert.equal(based.find('/ai/v1/rerank')?.kind, 'route');
  assert.equal(based.find('/v1/rerank'), undefined);
  assert.equal(based.find('/healthz')?.kind, 'health');
  assert.equal(based.find('/ai/readyz')?.kind, 'ready');
});

test('two routes with the same path are a fault, and of two overlapping routes the more specific one is found', () => {
  const embed = routes.find(({ path }) => path === '/v2/embed');
  assert.ok(embed !== undefined);
  for (const path of ['/v1/embeddings', '/healthz', '/v1/models', '/api/tags', '/v1/engines/{model}/embeddings']) {
    assert.throws(
      () => createRouter({ ...all, routes: [...routes, { ...embed, path, aliases: [] }] }, ''),
      /for the same path: /,
      path,
    );
  }
  const [azure] = clientApis;
  assert.ok(azure !== undefined);
  assert.throws(() => createRouter({ ...all, clientApis: [...clientApis, azure] }, ''), /for the same path: /);
  // `x/chat/completions` could be completions of the model `x/chat`.
  const deployment = router.find('/openai/deployments/x/chat/completions');
  assert.deepEqual([deployment?.path, modelIn(deployment)], ['/v1/chat/completions', 'x']);
  assert.equal(router.find('/openai/deployments/x/completions')?.path, '/v1/completions');
});

test("a stored object is found at its route's path with the object's ID as one segment", () => {
  for (const { route } of objectRoutes) {
    for (const path of [route.path, ...route.aliases, ...Object.keys(route.clientApiPaths ?? {})]) {
      // A list, and what makes one, have none.
      if (!path.includes('{id}')) continue;
      for (const [encoded, id] of [
        ['resp_1', 'resp_1'],
        ['resp%5F1', 'resp_1'],
        ['a%2Fb', 'a/b'],
        ['%2E%2E', '..'],
        ['cancel', 'cancel'],
      ] as const) {
        const match = router.find(path.replace('{id}', encoded));
        assert.ok(match?.kind === 'object', path);
        assert.deepEqual([match.path, match.id], [route.path, id]);
      }
      for (const none of ['a/b', '%FF', 'a/cancel/b']) {
        assert.equal(router.find(path.replace('{id}', none))?.kind, undefined, `${path} ${none}`);
      }
    }
  }
  assert.ok(router.find('/openai/v1/responses/resp_1/cancel')?.kind === 'object');
  assert.equal(router.find('/v1/responses/resp_1/cancel/')?.kind, 'object');
  assert.equal(router.find('/v1/responses/')?.kind, 'route');
});

test('every path of the realtime API is refused by that name', () => {
  for (const path of [
    '/v1/realtime',
    '/realtime',
    '/openai/v1/realtime',
    '/v1/realtime/client_secrets',
    '/v1/realtime/',
  ]) {
    assert.equal(router.find(path)?.kind, 'refused', path);
  }
  assert.equal(router.find('/v1/realtime/anything'), undefined);
});

test('the path that creates and lists files takes no ID', () => {
  for (const path of ['/v1/files', '/files/', '/openai/v1/files', '/openai/files']) {
    const match = router.find(path);
    assert.ok(match?.kind === 'object', path);
    assert.deepEqual([match.id, match.routes.map(({ action }) => action)], ['', ['make', 'list']]);
  }
  const one = router.find('/v1/files/file-1/content');
  assert.deepEqual(one?.kind === 'object' ? [one.id, one.path] : [], ['file-1', '/v1/files/{id}/content']);
});

test('the root and /ollama answer "Ollama is running", also under a base path', () => {
  const based = createRouter(all, '/ai');
  for (const [of, path] of [
    [router, '/'],
    [router, '/ollama'],
    [router, '/ollama/'],
    [based, '/ai'],
    [based, '/ai/'],
    [based, '/ai/ollama'],
  ] as const) {
    const match = of.find(path);
    assert.equal(
      match?.kind === 'endpoint' && 'text' in match.endpoint ? match.endpoint.text : undefined,
      'Ollama is running',
      path,
    );
  }
  assert.equal(based.find('/'), undefined);
});

test('path aliases that other servers use are found as the same routes', () => {
  for (const [path, canonical] of Object.entries({
    '/ollama/v1/chat/completions': '/v1/chat/completions',
    '/ollama/v1/embeddings': '/v1/embeddings',
    '/ollama/v1/models': '/v1/models',
    '/ollama/v1/models/m': '/v1/models/{id}',
    '/api/v1/chat/completions': '/v1/chat/completions',
    '/api/v1/messages': '/v1/messages',
    '/api/v1/models': '/v1/models',
    '/api/v1/files/f/content': '/v1/files/{id}/content',
    '/reranking': '/v1/rerank',
    '/v1/reranking': '/v1/rerank',
    '/embedding': '/v1/embeddings',
  })) {
    assert.equal(router.find(path)?.path, canonical, path);
  }
});

function hint(method: string, path: string, base = ''): string {
  const of = base === '' ? router : createRouter(all, base);
  assert.equal(of.find(path), undefined, path);
  return of.hintFor({ method, path, clientApi: of.clientApiOf(path) });
}

test('an unknown path is answered with the most similar path and method, if there is one', () => {
  for (const [method, path, nearest] of [
    ['POST', '/v1/chat/complete', 'POST /v1/chat/completions'],
    ['POST', '/v1/embedding', 'POST /v1/embeddings'],
    ['GET', '/v1/embedding', 'POST /v1/embeddings'],
    ['POST', '/V1/Embeddings', 'POST /v1/embeddings'],
    ['POST', '/proxy/of/ours/v1/chat/completions', 'POST /v1/chat/completions'],
    ['POST', '/v1/message', 'POST /v1/messages'],
    ['GET', '/v1/response', 'GET /v1/responses/{id}'],
    ['GET', '/ollama/api/tag', 'GET /api/tags'],
    ['POST', '/api/v1/respons', 'POST /v1/responses'],
    ['POST', '/api/pull', undefined],
    ['GET', '/.env', undefined],
    ['POST', `/v1/embedding${'s'.repeat(100)}`, undefined],
  ] as const) {
    const said = hint(method, path);
    const begin =
      nearest === undefined ? 'No route has this path. ' : `No route has this path; the nearest is ${nearest}. `;
    assert.equal(said.slice(0, begin.length), begin, said);
  }
  const posts = /Paths for POST: (.*)\.$/.exec(hint('POST', '/nowhere'))?.[1]?.split(', ') ?? [];
  for (const { path, entry, row } of routes) {
    if (entry === undefined && path === row.path) assert.ok(posts.includes(path), path);
  }
  const gets = /Paths for GET: (.*)\.$/.exec(hint('GET', '/nowhere'))?.[1]?.split(', ') ?? [];
  assert.deepEqual(gets.toSorted(), [
    '/healthz',
    '/readyz',
    '/v1/batches',
    '/v1/files',
    '/v1/models',
    '/v1/models/{id}',
  ]);
  assert.match(hint('POST', '/api/pull'), /Paths for POST: \/api\/embed, .*\/api\/chat, \/api\/show\.$/);
  assert.equal(hint('HEAD', '/nowhere'), hint('GET', '/nowhere'));
  assert.match(hint('DELETE', '/nowhere'), /Paths: .*\/v1\/responses.*\/v1\/models/);
});

test('a request outside the base path gets a hint with the right path', () => {
  assert.match(
    hint('POST', '/v1/embeddings', '/ai'),
    /nearest is POST \/ai\/v1\/embeddings\. Paths for POST: \/ai\/v1\//,
  );
});
