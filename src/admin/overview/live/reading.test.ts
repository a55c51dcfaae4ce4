import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toLabels } from '../../../telemetry/metrics/reading.ts';
import { createLabelReader } from './reading.ts';

test('label values of a metrics reading are parsed unchanged, whatever characters they contain', () => {
  const labelsOf = createLabelReader();
  const values = ['plain', 'with "quotes", commas and }', 'back\\slash\nand a line\\n', ''];
  const names = ['route', 'model', 'upstream', 'status'];
  const text = toLabels(names, values);
  const expected = Object.fromEntries(names.map((name, at) => [name, values[at]]));
  assert.deepEqual({ ...labelsOf(text) }, expected);
  assert.equal(labelsOf(text), labelsOf(text));
  assert.deepEqual({ ...labelsOf('') }, {});
  assert.deepEqual({ ...labelsOf(toLabels(['model'], ['__proto__'])) }, { model: '__proto__' });
});
