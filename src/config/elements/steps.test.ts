import assert from 'node:assert/strict';
import { test } from 'node:test';
import { families } from '../../families/index.ts';
import { parseSource } from '../read/source.ts';
import { substituting } from '../read/substitute.ts';
import { toKeyPositions } from '../store/declared.ts';
import { compiling } from './compile.ts';
import { judgingDocument } from './document.ts';

const models = 50;
const keys = 70;

const text = `upstreams: [{ id: a, family: openai }]
models:
${Array.from({ length: models }, (_, index) => `  - { id: m${index}, operations: [embeddings], targets: [{ upstream: a }] }`).join('\n')}
keys:
${Array.from({ length: keys }, (_, index) => `  - { id: k${index}, secret: a-secret-with-enough-characters-${index} }`).join('\n')}
`;

function countSteps<T>(work: Generator<undefined, T, undefined>): { readonly steps: number; readonly value: T } {
  for (let steps = 0; ; steps += 1) {
    const { done, value } = work.next();
    if (done === true) return { steps, value };
  }
}

test('loading a large configuration yields to requests at every element', () => {
  const source = parseSource(text);
  const { tree, faults } = source;
  const substituted = countSteps(substituting(tree, {}, faults));
  assert.ok(substituted.steps >= models + keys, 'substitution');
  const judged = countSteps(judgingDocument(substituted.value, { faults, locator: source, elements: [] }));
  // Once for variables, once for the schema.
  assert.ok(judged.steps >= 2 * models + 2 * keys, 'judgement');
  assert.ok(judged.value);
  const context = {
    families,
    sideFiles: { content: () => ({ reason: 'none' }), paths: [] },
    nowMs: 0,
    availableBytes: 2 ** 32,
    availableCores: 2,
    isInKubernetes: false,
    takenPaths: [],
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
