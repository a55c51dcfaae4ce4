import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openaiCategories } from '../wire-formats/moderations/moderation-categories.ts';
import { rules } from './wordlist-rules.ts';

test('every word-list rule has a unique name, patterns, and weights from 0 to 1', () => {
  assert.equal(new Set(rules.map(({ id }) => id)).size, rules.length);
  for (const { id, patterns, weights } of rules) {
    assert.match(id, /^[a-z]+(-[a-z]+)*$/);
    assert.ok(patterns.length > 0, id);
    assert.ok(Object.keys(weights).length > 0, id);
    for (const weight of Object.values(weights)) assert.ok(weight > 0 && weight < 1, id);
  }
});

test('every moderation category has a rule that flags a text by itself', () => {
  for (const category of openaiCategories) {
    assert.ok(
      rules.some(({ weights }) => (weights[category] ?? 0) >= 0.5),
      category,
    );
  }
});
