import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { type SnippetFacts, toSnippets } from './snippets.ts';

const facts: SnippetFacts = {
  baseUrl: 'http://127.0.0.1:4000/ai',
  secret: 'pst_secret',
  model: 'team/it\'s a "model" $HOME',
  operation: 'embeddings',
};

const codeOf = (id: string, more: Partial<SnippetFacts> = {}): string =>
  toSnippets({ ...facts, ...more }).find((one) => one.id === id)?.code ?? assert.fail(`no ${id}`);

test('a shell parses the curl command correctly, with any model name', () => {
  const echo = 'curl() { for one in "$@"; do printf "%s\\0" "$one"; done; }\n';
  const words = execFileSync('sh', ['-c', echo + codeOf('curl')], { encoding: 'utf8' }).split('\0');
  assert.equal(words[0], 'http://127.0.0.1:4000/ai/v1/embeddings');
  assert.equal(words[2], 'Authorization: Bearer pst_secret');
  assert.deepEqual(JSON.parse(words[6] ?? ''), { model: facts.model, input: ['Hello, world'] });
});

test("a snippet has a shell variable where the key's secret is unknown", () => {
  for (const operation of ['embeddings', 'rerank', 'completions', 'moderations', 'edits'] as const) {
    for (const { id, code } of toSnippets({ ...facts, secret: undefined, operation })) {
      assert.ok(code.includes('POSTERN_KEY'), id);
      assert.ok(!code.includes('pst_'), id);
    }
  }
});

test('for a gateway that listens only on a Unix socket, only the curl snippet is shown', () => {
  const [curl, ...others] = toSnippets({ ...facts, baseUrl: 'unix:/run/p.sock:/ai' });
  assert.match(curl?.code ?? '', /^curl --unix-socket \/run\/p\.sock http:\/\/localhost\/ai\/v1\/embeddings /);
  assert.match(curl?.note ?? '', /socket alone/);
  assert.deepEqual(others, []);
});

test('each library gets the base URL it needs', () => {
  assert.match(codeOf('openai-python'), /base_url="http:\/\/127\.0\.0\.1:4000\/ai\/v1"/);
  assert.match(codeOf('openai-node'), /baseURL: "http:\/\/127\.0\.0\.1:4000\/ai\/v1"/);
  assert.match(
    codeOf('langchain'),
    /base_url="http:\/\/127\.0\.0\.1:4000\/ai\/v1"[\s\S]*check_embedding_ctx_length=False/,
  );
  // The library adds the version itself.
  assert.match(codeOf('cohere', { operation: 'rerank' }), /base_url="http:\/\/127\.0\.0\.1:4000\/ai"/);
});

test("a client library's snippet is shown only if the library supports the operation", () => {
  const idsOf = (operation: SnippetFacts['operation']) => toSnippets({ ...facts, operation }).map(({ id }) => id);
  const always = ['curl', 'openai-python', 'openai-node'];
  assert.deepEqual(idsOf('embeddings'), [...always, 'langchain']);
  assert.deepEqual(idsOf('rerank'), [...always, 'cohere']);
  assert.deepEqual(idsOf('edits'), always);
});
