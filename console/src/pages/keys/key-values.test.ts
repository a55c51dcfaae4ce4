import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { KeyDocument } from '../../../../src/admin/contract.ts';
import { toChange, toKeyDocument, toKeyValues, toProjectDocument, toProjectValues } from './key-values.ts';

const caps: Pick<KeyDocument, 'limits' | 'budgets'> = {
  limits: { requests_per_minute: 60, concurrency: 4 },
  budgets: [{ every: 'week', amount: '50', alerts: ['90%'] }],
};

/** Every field that the configuration has for a project. */
const project = { name: 'Search', files: 'openai', metadata: { team: 'search', cost_centre: '7' }, ...caps };

const key: KeyDocument = {
  name: 'Search, production',
  models: ['gpt-*'],
  operations: ['embeddings'],
  addresses: ['10.0.0.0/8'],
  expires: '2027-01-01T00:00:00.000Z',
  project: 'search',
  ...caps,
  metadata: { team: 'search' },
  capture: '24h',
  lane: 'bulk',
  shape: 'cohere',
};

test('a project read into the form is written back unchanged, also fields that the form lacks', async () => {
  const file = new URL('../../../../postern.schema.json', import.meta.url);
  const schema: { properties: { projects: { items: { properties: object } } } } = JSON.parse(
    await readFile(file, 'utf8'),
  );
  const { properties } = schema.properties.projects.items;
  assert.deepEqual(Object.keys(properties).sort(), ['id', ...Object.keys(project)].sort());
  const newer = { ...project, newer: { as: ' it is ' } };
  assert.deepEqual(toProjectDocument(toProjectValues({ id: 'search', ...newer })), newer);
  assert.equal('files' in toProjectDocument({ ...toProjectValues(project), files: ' ' }), false);
});

test('a project budget without alert thresholds gets the default ones in the form, and may have none', () => {
  const budget = { every: 'week', amount: 50 };
  const { budgets } = toProjectValues({ budgets: [budget] });
  assert.deepEqual(budgets, [{ ...budget, alerts: ['80%', '100%'] }]);
  const without = { budgets: [{ ...budget, alerts: [] }] };
  assert.deepEqual(toProjectDocument(toProjectValues(without)), without);
});

test('a key read into the form is written back unchanged, except that its expiry becomes a date', () => {
  assert.deepEqual(toKeyDocument(toKeyValues(key)), { ...key, expires: '2027-01-01' });
  assert.deepEqual(toKeyDocument(toKeyValues({})), { name: '', models: ['*'] });
});

test('the change of a key contains the changed fields only, and null for emptied ones', () => {
  const before = toKeyValues(key);
  const changed = (after: object) => toChange(toKeyDocument(before), toKeyDocument({ ...before, ...after }));
  assert.deepEqual(changed({}), {});
  const limits = { requests_per_minute: '', concurrency: 4 };
  const emptied = { operations: [], addresses: [], project: null, lane: null, captures: false, notes: [], budgets: [] };
  assert.deepEqual(changed({ ...emptied, scope: 'all', expiry: 'never', limits }), {
    ...{ operations: null, addresses: null, project: null, lane: null, capture: null, metadata: null, budgets: null },
    ...{ models: ['*'], expires: null, limits: { concurrency: 4 } },
  });
});
