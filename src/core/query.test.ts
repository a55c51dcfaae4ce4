import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type QueryGrammar, readQuery, withQuery } from './query.ts';

const grammar: QueryGrammar = {
  limit: { pattern: /^\d{1,3}$/, form: 'a number' },
  'include[]': { pattern: /^[a-z.]+$/, form: 'a name', isList: true },
};

test('known query parameters are re-encoded, and unknown ones are dropped', () => {
  const written = (query: string): string => readQuery(query, grammar).text;
  assert.equal(written(''), '');
  assert.equal(written('limit=20'), 'limit=20');
  assert.equal(written('key=secret&limit=20&Limit=3&__proto__=1&constructor=2&limit%00=1'), 'limit=20');
  assert.equal(written('include[]=a.b&include%5B%5D=c'), 'include%5B%5D=a.b&include%5B%5D=c');
  assert.equal(written('l%69mit=%32%30'), 'limit=20');
  assert.equal(written('?&&=&a=%ZZ'), '');
  assert.equal(readQuery('include[]=a&include[]=b', grammar).get('include[]'), 'a');
  assert.equal(readQuery('x=1', grammar).get('x'), undefined);
});

test('an invalid or repeated query parameter is refused, and the error names it', () => {
  for (const query of [
    'limit=',
    'limit=x',
    'limit=1%0d%0ax',
    'limit=1%26key=2',
    'limit=1234',
    `limit=${'1'.repeat(9_999)}`,
  ]) {
    assert.throws(() => readQuery(query, grammar), { code: 'unsupported_parameter', param: 'limit' }, query);
  }
  assert.throws(() => readQuery('limit=1&limit=1', grammar), { code: 'duplicate_parameter', param: 'limit' });
});

test('a query is appended to a path, or to the query that the path already has', () => {
  const query = readQuery('limit=1', grammar);
  assert.equal(withQuery('/a', query), '/a?limit=1');
  assert.equal(withQuery('/a?b=c', query), '/a?b=c&limit=1');
  assert.equal(withQuery('/a?b=c', readQuery('', grammar)), '/a?b=c');
});
