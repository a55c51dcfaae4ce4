import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Alias } from 'yaml';
import { faultsOf, loaded } from '../../../test/support/gateways/configuration.ts';
import { parseSource } from './source.ts';

const faultIn = (text: string) => {
  const [fault] = parseSource(text).faults.all();
  return fault && [fault.line, fault.message];
};

test('each parsed value has its position in the file, and a missing value has that of its parent', () => {
  const { positionOf } = parseSource(
    'models:\n  - id: a\n    targets:\n      - upstream: b\n      - { upstream: c }\n',
  );
  assert.deepEqual(positionOf(['models', 0, 'id']), { line: 2, column: 5 });
  assert.deepEqual(positionOf(['models', 0, 'targets', 0, 'upstream']), { line: 4, column: 9 });
  assert.deepEqual(positionOf(['models', 0, 'targets', 1, 'upstream']), { line: 5, column: 11 });
  assert.deepEqual(positionOf(['models', 0, 'targets', 0, 'model']), { line: 4, column: 9 });
  assert.deepEqual(positionOf(['keys', 3]), { line: 1, column: 1 });
});

test('invalid YAML is reported with its line', () => {
  for (const [text, line, message] of [
    ['a: 1\nb: "x', 2, /a quote, a bracket/],
    ['a: 1\n\tb: 2', 2, /spaces, not with tabs/],
    ['a:\n  b: 1\n c: 2', 3, /indentation/],
    ['a: b: c', 1, /indentation|quotes/],
    ['a: @b', 1, /put it in quotes/],
    [`a: 1\nb: { c: \${D} }`, 2, /between brackets a value with \$\{NAME\} needs quotes/],
    ['a: 1\n---\nb: 2', 2, /second document/],
    ['a: *b', 1, /anchor/],
    ['? [a]\n: 1', 1, /key must be plain text/],
  ] as const) {
    const [foundLine, found] = faultIn(text) ?? [];
    assert.equal(foundLine, line, text);
    assert.match(String(found), message, text);
  }
});

test('a duplicate key is a fault at its second position, reported beside all other faults', async (t) => {
  const faults = await faultsOf(t, 'server:\n  port: 1\n  port: 2\n  prot: 3\n');
  assert.deepEqual(
    faults.map(({ line, path, message }) => [line, path, message]),
    [
      [3, 'server.port', 'stands twice; the first is on line 2'],
      [4, 'server.prot', 'unknown key; did you mean port?'],
    ],
  );
});

test('YAML aliases are resolved', async (t) => {
  const text = `
upstreams:
  - { id: a, family: openai, timeouts: &patient { connect: 9s } }
  - { id: b, family: openai, timeouts: *patient }
`;
  const { snapshot } = await loaded(t, text);
  assert.equal(snapshot.upstreams.get('b')?.timeouts.edits.connectMs, 9000);
});

test('nested YAML aliases cannot expand without bound', () => {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 12; i++)
    lines.push(
      `a${i}: &a${i} [${Array(10)
        .fill(`*a${i - 1}`)
        .join(', ')}]`,
    );
  assert.match(
    String(faultIn(lines.join('\n'))),
    /passes the limit of 200000 values, where each use of an alias counts/,
  );
});

test('a YAML alias refers to the nearest anchor before it, also within reused content', () => {
  const { tree } = parseSource('a: &x 1\nb: &o { i: *x, j: &x 2 }\nc: &x 3\nd: *o\ne: *x\nf: *y\ng: &y 4\n');
  assert.deepEqual(JSON.parse(JSON.stringify(tree)), {
    a: 1,
    b: { i: 1, j: 2 },
    c: 3,
    d: { i: 1, j: 2 },
    e: 3,
    f: null,
    g: 4,
  });
});

test('resolving many YAML aliases does not search the document for each of them', (t) => {
  const { mock } = t.mock.method(Alias.prototype, 'resolve');
  const count = 500;
  const anchors = Array.from({ length: count }, (_, at) => `a${at}: &a${at} ${at}\n`).join('');
  const aliases = Array.from({ length: count }, (_, at) => `  - *a${at}\n`).join('');
  const { tree } = parseSource(`${anchors}b:\n${aliases}`);
  assert.deepEqual(Object(tree).b, [...Array(count).keys()]);
  assert.equal(mock.callCount(), 0);
});

test('a YAML alias inside its own anchor is refused', () => {
  assert.match(String(faultIn('a: &a [*a]')), /levels deep/);
});

test('the nesting depth of a file is limited, also of brackets', () => {
  for (const text of [
    `a: ${'['.repeat(40)}${']'.repeat(40)}`,
    '['.repeat(100_000),
    `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`,
  ]) {
    assert.match(String(faultIn(text)), /levels deep/);
  }
});

test('constructor and toString are ordinary keys, __proto__ is unknown, and merge keys are a fault', () => {
  const { tree, faults } = parseSource('constructor: 1\ntoString: 2\n');
  assert.deepEqual(Object.keys(Object(tree)), ['constructor', 'toString']);
  assert.deepEqual(faults.all(), []);
  assert.deepEqual(faultIn('a: 1\n__proto__: { server: {} }'), [2, 'unknown key']);
  for (const merged of ['*a', '[*a]', '[*a, *a]', '[{ d: 1 }, *a]']) {
    const fault = String(faultIn(`a: &a { b: 1 }\nc: { <<: ${merged} }`));
    assert.match(fault, /^2,YAML 1\.2 has no merge keys; write the keys out/, merged);
  }
});

test('a byte order mark is not read as part of the first key', async (t) => {
  const { snapshot } = await loaded(t, '\ufeffserver: { port: 7 }');
  assert.equal(snapshot.server.port, 7);
});
