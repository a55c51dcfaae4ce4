import assert from 'node:assert/strict';
import { test } from 'node:test';
import { text } from './fields.ts';
import { isSecret } from './schema-lookup.ts';

test('a schema marked as secret is still secret when it is made optional', () => {
  assert.equal(isSecret(text('text').meta({ secret: true }).optional()), true);
  assert.equal(isSecret(text('text').optional().meta({ secret: true })), true);
  assert.equal(isSecret(text('text').optional()), false);
});
