import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { toProjectDocument, toProjectValues } from './project-values.ts';

/** Every field that the configuration has for a project. */
const written = {
  name: 'Search',
  files: 'openai',
  metadata: { team: 'search', cost_centre: '7' },
  limits: { requests_per_minute: 60, concurrency: 4 },
  budgets: [{ every: 'week', amount: '50', alerts: ['90%'] }],
};

test('a project is written as it was read, with file settings and notes', async () => {
  const file = new URL('../../../../postern.schema.json', import.meta.url);
  const schema: { properties: { projects: { items: { properties: object } } } } = JSON.parse(
    await readFile(file, 'utf8'),
  );
  const { properties } = schema.properties.projects.items;
  assert.deepEqual(Object.keys(properties).sort(), ['id', ...Object.keys(written)].sort());
  const project = { id: 'search', document: { id: 'search', ...written } } as unknown as Parameters<
    typeof toProjectValues
  >[0];
  assert.deepEqual(toProjectDocument(toProjectValues(project)), written);
  assert.deepEqual(toProjectDocument({ ...toProjectValues(project), files: ' ' }).files, undefined);
});
