import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toResource } from '../../../test/support/stores/memory-resources.ts';
import type { Resource } from '../../core/store/resources.ts';
import { families } from '../../families/index.ts';
import { parseSource } from '../read/source.ts';
import { substituting } from '../read/substitute.ts';
import { toKeyPositions } from '../store/declared.ts';
import { openElements, toChunks } from '../store/resources.ts';
import { compiling } from './compile.ts';
import { judgingDocument } from './document.ts';
import { keepingElements } from './reuse.ts';

const models = 50;
const keys = 70;

const text = `upstreams: [{ id: a, family: openai }]
models:
${Array.from({ length: models }, (_, index) => `  - { id: m${index}, operations: [embeddings], targets: [{ upstream: a }] }`).join('\n')}
keys:
${Array.from({ length: keys }, (_, index) => `  - { id: k${index}, secret: a-secret-with-enough-characters-${index} }`).join('\n')}
`;

const machine = {
  families,
  sideFiles: { content: () => ({ reason: 'none' }) as const, paths: [] },
  nowMs: 0,
  availableBytes: 2 ** 32,
  availableCores: 2,
  isInKubernetes: false,
  takenPaths: [],
};

function countSteps<T>(work: Generator<undefined, T, undefined>): { readonly steps: number; readonly value: T } {
  for (let steps = 0; ; steps += 1) {
    const { done, value } = work.next();
    if (done === true) return { steps, value };
  }
}

/** What a load with these resources reports and makes, and in how many steps. */
function loadStepwise(resources: readonly Resource[]) {
  const source = parseSource(text);
  const { faults } = source;
  const elements = openElements(toChunks(resources, []), 'none', faults);
  const substituted = countSteps(substituting(source.tree, {}, faults));
  const { value: tree } = countSteps(keepingElements(substituted.value));
  const judged = countSteps(judgingDocument({ ...substituted.value, tree }, { faults, locator: source, elements }));
  assert.ok(judged.value);
  const context = { ...machine, faults, locator: source, isSubstituted: substituted.value.isSubstituted, warnings: [] };
  const compiled = countSteps(compiling(judged.value, context));
  assert.deepEqual(faults.all(), []);
  return { steps: judged.steps + compiled.steps, models: compiled.value.snapshot.models.all };
}

test('a reload after a change of one stored model recompiles only that model', () => {
  const stored = Array.from({ length: 2_000 }, (_, index) =>
    toResource('model', { id: `stored-${index}`, operations: ['embeddings'], targets: [{ upstream: 'a' }] }),
  );
  const before = loadStepwise(stored);
  const unchanged = loadStepwise(stored);
  const changed = stored.map((one, at) =>
    at === 700 ? { ...one, document: { ...one.document, visible: false } } : one,
  );
  const after = loadStepwise(changed);
  assert.ok(before.steps > 2 * stored.length, `${before.steps} steps of the first load`);
  assert.ok(after.steps - unchanged.steps < 20, `${after.steps} steps in place of ${unchanged.steps}`);
  assert.ok(after.steps < stored.length / 4, `${after.steps} steps for ${stored.length} models`);
  assert.deepEqual(
    after.models.filter((model) => !before.models.includes(model)).map(({ id }) => id),
    ['stored-700'],
  );
});

test('loading a large configuration yields to the event loop at every element', () => {
  const source = parseSource(text);
  const { tree, faults } = source;
  const substituted = countSteps(substituting(tree, {}, faults));
  assert.ok(substituted.steps >= models + keys, 'substitution');
  const judged = countSteps(judgingDocument(substituted.value, { faults, locator: source, elements: [] }));
  // Once for variables, once for the schema.
  assert.ok(judged.steps >= 2 * models + 2 * keys, 'judgement');
  assert.ok(judged.value);
  const context = {
    ...machine,
    faults,
    locator: source,
    isSubstituted: substituted.value.isSubstituted,
    warnings: [],
  };
  const compiled = countSteps(compiling(judged.value, context));
  // Between two models once for the value, once for prices.
  assert.ok(compiled.steps >= 2 * (models - 1) + keys, 'compilation');
  assert.equal(compiled.value.snapshot.keys.size, keys);
  assert.deepEqual(faults.all(), []);
  assert.ok(countSteps(toKeyPositions(source, substituted.value.tree, undefined)).steps >= keys, 'positions of keys');
});
