import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { atOnce } from '../../lib/time-slices.ts';
import { type Columns, positionIn, toTree } from './columns.ts';
import type { Path } from './faults.ts';
import { readPlain } from './plain-source.ts';
import { readYaml } from './yaml-source.ts';

const pathsOf = (value: unknown, path: Path = []): Path[] => {
  if (typeof value !== 'object' || value === null) return [path];
  const steps = Array.isArray(value) ? value.entries() : Object.entries(value);
  return [path, ...[...steps].flatMap(([step, inner]) => pathsOf(inner, [...path, step]))];
};

/** Each value and its position. */
function meaningOf(columns: Columns): unknown {
  const tree = atOnce(toTree(columns));
  return { tree, positions: pathsOf(tree).map((path) => [path, positionIn(columns, path)]) };
}

/** Whether it was read here; if so, the full YAML parser must agree. */
function agrees(text: string): boolean {
  const columns = readPlain(text);
  if (columns === undefined) return false;
  const { columns: expected, faults } = readYaml(text);
  assert.deepEqual(faults, [], text);
  assert.ok(expected, text);
  assert.deepEqual(meaningOf(columns), meaningOf(expected), text);
  return true;
}

test('the built-in parser reads common YAML files with the same result as the YAML library', () => {
  for (const text of [
    'a: 1\n',
    'a:\n  b: 2\n\n  # a remark\n  c: x # another\nd:',
    '# first\n\nmodels:\n  - id: a\n    targets:\n      - upstream: b\n      - { upstream: c, "weight": 3 }\n  -   id: b\nkeys: []\n',
    'list:\n- a\n- b: 1\n  c: 2\n- - x\n  - y\n- [1, 2.5, -3, 1e3, .5, +7, 010, true, Null, ~, nope]\nnext: {}',
    '- a\n-\n  b: c\n- \n  - d',
    `a: 'it''s'\nb: "two\\nlines\\u00e9"\n"c d": https://x.test/a#b?c=1:2\n'e': 10.0.0.7\nf: -x\ng: a-b:c`,
    '  a: 1\n  b: 2\n',
    'a: "" # nothing\nb: \'\'\nc: 30s\nd: 4.1-instruct\ne: key\\with',
    '{\n\t"a": [1, {"b": "c\\/d"}],\n\t"e": null, "f": {}, "g": [], "é": "ü😀"\n}\n',
    '[]',
    '{ a: b, c: [d e, f] }',
  ]) {
    assert.ok(agrees(text), text);
  }
});

test('the built-in parser leaves unusual YAML to the YAML library', () => {
  for (const text of [
    '',
    '# nothing\n',
    'text',
    'a: |\n  b\n',
    'a: b\n  c\n',
    'a: "b\n  c"\n',
    'a: &x 1\nb: *x\n',
    'a: !!str 1\n',
    '--- \na: 1',
    'a: 1\n...\n',
    'a: 1\na: 2\n',
    '__proto__: 1\n',
    '{"a": 1, "a": 2}',
    'true: 1\n',
    'a: 0x1F\n',
    'a: .inf\n',
    'a: b: c\n',
    'a:\tb\n',
    'a: 1\r\nb: 2\r\n',
    '\ufeffa: 1\n',
    'a: [1, 2\n',
    'a: [1,\n  2]\n',
    'a: [b: c]\n',
    'a: {b}\n',
    'a: [1, ]\n',
    'a: "\\x41"\n',
    'a: - b\n',
    '? a\n: b\n',
    'a:\n  b: 1\n c: 2\n',
    'a: 1\n- b\n',
    '{"a": 1} {"b": 2}',
    '{"a": 1,}',
    '{"a": 01x} x',
    `${'['.repeat(33)}${']'.repeat(33)}`,
    '['.repeat(100_000),
  ]) {
    assert.equal(agrees(text), false, text.slice(0, 40));
  }
});

test('any text that the built-in parser accepts has the same result as in the YAML library', () => {
  const piece = fc.constantFrom(
    ...['a', 'b', 'c', '1', '-1', '0', '.', ':', ': ', '- ', '-', ' ', '  ', '\n', '\n  ', '\n- ', '\n  - '],
    ...[
      '#',
      ' #',
      '"',
      "'",
      '[',
      ']',
      '{',
      '}',
      ', ',
      ',',
      'a: ',
      'b: ',
      '\nc: ',
      '\n  d: ',
      'null',
      'true',
      '~',
      '\\n',
      'é',
      '*',
    ],
  );
  let read = 0;
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      if (agrees(pieces.join(''))) read += 1;
    }),
    { numRuns: 3000 },
  );
  assert.ok(read > 0);
});

test('the built-in parser reads any JSON, whatever its indentation', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })),
      fc.constantFrom(0, 2, '\t'),
      (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        if (/__proto__|[\x7f-\x9f\ufeff\ufffe\uffff]/.test(text)) return;
        assert.ok(agrees(text), text);
      },
    ),
    { numRuns: 500 },
  );
});

test('the built-in parser reads the examples of the docs', () => {
  const page = readFileSync(new URL('../../../docs/guides/configuration.md', import.meta.url), 'utf8');
  const examples = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => text);
  assert.ok(examples.length > 0);
  const read = examples.filter(agrees);
  assert.ok(read.length * 2 > examples.length, `${read.length} of ${examples.length}`);
});
