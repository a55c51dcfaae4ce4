import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultIn } from './commits.ts';

test('accepts subjects of the form type(scope): imperative summary', () => {
  for (const subject of [
    'feat(batch): merge split embeddings by index',
    'fix: embed what a client sends',
    'refactor(store)!: seed and feed the tables',
    'perf(wire): pass bytes',
    'docs: bring figures up to date',
    `test(a): ${'x'.repeat(63)}`,
  ]) {
    assert.equal(faultIn(subject), undefined, subject);
  }
});

test('refuses long subjects, other forms, a full stop and verbs that are not imperative', () => {
  for (const [subject, fault] of [
    [`test(a): ${'x'.repeat(64)}`, /73 characters/],
    ['merge split embeddings', /not of the form/],
    ['fix(a):no blank', /not of the form/],
    ['fix(a): read a null query.', /full stop/],
    ['fix(a): added a test', /"added"/],
    ['fix(a): fixes a test', /"fixes"/],
    ['fix(a): adding a test', /"adding"/],
  ] as const) {
    assert.match(faultIn(subject) ?? '', fault, subject);
  }
});
