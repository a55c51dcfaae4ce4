import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCopies } from './copied-lines.ts';

const lines = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, n) => `call(${from + n});`);
const textOf = (...parts: readonly (readonly string[])[]): string => parts.flat().join('\n');
const found = (texts: Readonly<Record<string, string>>, least = 3): string[] =>
  findCopies(new Map(Object.entries(texts)), least).map(
    ({ one, other, lines }) => `${one.path}:${one.line} ${other.path}:${other.line} ${lines}`,
  );

test('copied lines are reported with both locations and the number of lines', () => {
  const texts = { 'a.ts': textOf(['x();'], lines(0, 5)), 'b.ts': textOf(lines(0, 5), ['y();']) };
  assert.deepEqual(found(texts), ['a.ts:2 b.ts:1 5']);
});

test('fewer common lines than the minimum are not reported as a copy', () => {
  assert.deepEqual(found({ 'a.ts': textOf(lines(0, 2), ['x();']), 'b.ts': textOf(lines(0, 2), ['y();']) }), []);
});

test('lines repeated within one file are reported as a copy', () => {
  assert.deepEqual(found({ 'a.ts': textOf(lines(0, 3), ['x();'], lines(0, 3)) }), ['a.ts:1 a.ts:5 3']);
});

test("lines in three files are reported as two copies of the first file's lines", () => {
  const texts = { 'a.ts': textOf(lines(0, 3)), 'b.ts': textOf(lines(0, 3)), 'c.ts': textOf(lines(0, 3)) };
  assert.deepEqual(found(texts), ['a.ts:1 b.ts:1 3', 'a.ts:1 c.ts:1 3']);
});

test('indentation, brackets, empty lines and imports do not count as common lines', () => {
  const one = textOf(["import { call } from './call.ts';", 'if (x) {'], lines(0, 3), ['}']);
  const other = textOf(
    ["import {\n  call,\n} from './call.ts';"],
    ['', ...lines(0, 3).map((line) => `  {\n    ${line}`)],
  );
  assert.deepEqual(found({ 'a.ts': one, 'b.ts': other }), ['a.ts:3 b.ts:6 3']);
  const imports = 'abc'.split('').map((name) => `import { ${name} } from './${name}.ts';`);
  assert.deepEqual(found({ 'a.ts': textOf(imports), 'b.ts': textOf(imports) }), []);
});
