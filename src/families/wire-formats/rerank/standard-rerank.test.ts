import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RerankShape } from '../../../core/translation.ts';
import { compileWatchedKeys, scanJson } from '../../../lib/json/json-scan.ts';
import { rerank as route } from '../../../routes/openai.ts';
import { rerankOfAnyone, type StandardRerankFacts, standardRerank } from './standard-rerank.ts';

const watched = compileWatchedKeys([...Object.keys(route.required), ...route.watched]);

function isNeeded(facts: StandardRerankFacts | undefined, more: object, shape?: RerankShape): boolean | undefined {
  const asked = { model: 'm', query: 'q', documents: ['a', 'b'], ...more };
  const body = Buffer.from(JSON.stringify(asked));
  const scan = scanJson(body, watched);
  assert.ok(scan.ok);
  const translation = facts === undefined ? rerankOfAnyone : standardRerank(facts);
  return translation.isNeeded?.({
    body,
    fields: scan.fields,
    shape,
    tokenIds: 'decode',
  });
}

test('a rerank request passes unchanged if the upstream has every parameter of it', () => {
  for (const more of [{}, { top_n: 1 }, { top_n: null }, { return_documents: true }, { own_field: ['a'] }]) {
    assert.equal(isNeeded({ own: [] }, more), false, JSON.stringify(more));
    assert.equal(isNeeded(undefined, more), false, JSON.stringify(more));
  }
  assert.equal(isNeeded(undefined, { documents: [{ a: 1 }], query: {} }), false);
});

test("a rerank request is translated if it has other services' parameters, which the upstream would ignore", () => {
  const values = { max_tokens_per_doc: 9, max_chunks_per_doc: 2, rank_fields: ['a'], top_k: 1 };
  for (const [name, value] of Object.entries(values)) {
    assert.equal(isNeeded({ own: [] }, { [name]: value }), true, name);
    assert.equal(isNeeded({ own: [], takesObjects: true, echoes: 'always' }, { [name]: value }), true, name);
    assert.equal(isNeeded({ own: [name] }, { [name]: value }), false, name);
    // Some clients send it always.
    assert.equal(isNeeded({ own: [], refusesNull: ['top_n'] }, { [name]: null }), false, name);
    // For an unknown service, it may be a parameter.
    assert.equal(isNeeded(undefined, { [name]: value }), false, name);
  }
  const facts: StandardRerankFacts = { own: ['max_chunks_per_doc'], refusesNull: ['max_chunks_per_doc'] };
  assert.equal(isNeeded(facts, { max_chunks_per_doc: null }), true);
  assert.equal(isNeeded(facts, { max_chunks_per_doc: 2 }), false);
});

test('a rerank request is always translated if the client wants another response shape', () => {
  assert.equal(isNeeded({ own: [] }, {}, 'cohere'), true);
  assert.equal(isNeeded(undefined, {}, 'tei'), true);
});

test('a rerank request with objects among its texts is translated for upstreams that take only text', () => {
  for (const documents of [[{ text: 'a' }], ['a', { text: 'b' }]]) {
    assert.equal(isNeeded({ own: [] }, { documents }), true);
    assert.equal(isNeeded({ own: [], takesObjects: 'documents' }, { documents }), false);
    assert.equal(isNeeded({ own: [], takesObjects: true }, { documents }), false);
  }
  assert.equal(isNeeded({ own: [] }, { query: { text: 'q' } }), true);
  assert.equal(isNeeded({ own: [], takesObjects: 'documents' }, { query: { text: 'q' } }), true);
  assert.equal(isNeeded({ own: [], takesObjects: true }, { query: { text: 'q' } }), false);
});

test('a rerank request is translated if documents would be missing in the response, or returned unrequested', () => {
  for (const echoes of ['never', 'otherwise'] as const) {
    assert.equal(isNeeded({ own: [], echoes }, { return_documents: true }), true);
    assert.equal(isNeeded({ own: [], echoes }, { return_documents: null }), false);
  }
  // One has another shape for documents, the other no such parameter.
  assert.equal(isNeeded({ own: [], echoes: 'otherwise' }, { return_documents: false }), false);
  assert.equal(isNeeded({ own: [], echoes: 'never' }, { return_documents: false }), true);
  assert.equal(isNeeded({ own: [], echoes: 'always' }, { return_documents: false }), true);
  assert.equal(isNeeded({ own: [], echoes: 'always' }, { return_documents: true }), false);
});

test('a rerank request is translated if it has a null field that the upstream does not accept', () => {
  assert.equal(isNeeded({ own: [], refusesNull: ['top_n'] }, { top_n: null }), true);
  assert.equal(isNeeded({ own: [], refusesNull: ['top_n'] }, { return_documents: null }), false);
  assert.deepEqual(standardRerank({ own: [], maxItems: 3 }).limits, { items: 3 });
});
