import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import { hostileTexts } from '../../../test/support/json/hostile-texts.ts';
import { JsonPicker, type Picked } from './json-picker.ts';

const paths = ['id', 'output.*.id', 'response.id', 'response.output.*.id'];

function pick(document: string | Buffer, pieces = [Buffer.from(document)]): string[] {
  const picker = new JsonPicker(paths);
  const picked: Picked[] = [];
  for (const piece of pieces) picker.push(piece, picked);
  return picked.map(({ path, text }) => `${path}=${text}`);
}

const document = JSON.stringify({
  a: ['"id":"no"', { id: 'no' }, [[{ id: 'no' }]]],
  id: 'resp_1',
  text: '\\"id\\":\\',
  output: [{ id: 'msg_1', content: [{ id: 'no' }] }, 'id', [{ id: 'no' }], { b: { id: 'no' }, id: 'msg_2', c: {} }],
  response: { output: [{ id: 'rs_1' }], id: 'resp_2', response: { id: 'no' } },
  more: { output: [{ id: 'no' }] },
});
const expected = [
  'id=resp_1',
  'output.*.id=msg_1',
  'output.*.id=msg_2',
  'response.output.*.id=rs_1',
  'response.id=resp_2',
];

test('picks texts at the given paths only', () => {
  assert.deepEqual(pick(document), expected);
  assert.deepEqual(pick(JSON.stringify(JSON.parse(document), undefined, '\t')), expected);
});

test('the result does not depend on chunk boundaries', () => {
  const bytes = Buffer.from(document);
  for (let at = 0; at <= bytes.length; at += 1) {
    assert.deepEqual(pick(bytes, [bytes.subarray(0, at), bytes.subarray(at)]), expected, `cut at ${at}`);
  }
  assert.deepEqual(
    pick(
      bytes,
      [...bytes].map((byte) => Buffer.of(byte)),
    ),
    expected,
  );
});

test('decodes escapes in names and texts, and picks every occurrence of a duplicate field', () => {
  assert.deepEqual(pick('{"\\u0069d":"resp\\u005f1","id":"b","id":"c"}'), ['id=resp_1', 'id=b', 'id=c']);
  for (const hostile of hostileTexts) {
    const text = hostile.slice(0, 300).toWellFormed();
    assert.deepEqual(pick(JSON.stringify({ id: text })), [`id=${text}`]);
  }
});

test('skips values that are no text or too long, and tolerates invalid JSON', () => {
  assert.deepEqual(pick('{"id":1,"output":[{"id":null},{"id":["a"]},{"id":{"id":"a"}},{"id":"b"}]}'), [
    'output.*.id=b',
  ]);
  assert.deepEqual(pick(JSON.stringify({ id: 'x'.repeat(3_000), output: [{ id: 'a' }] })), ['output.*.id=a']);
  for (const broken of ['', ']]]}}}', '{"id', '{"id":"\\x"}', '{{{{', '"id"', '[{"id":"a"}]', '}{"id":"a"', ',,,:::']) {
    assert.deepEqual(pick(broken), [], broken);
  }
  assert.deepEqual(pick(`${'['.repeat(1_000_000)}"id"`), []);
});

test('after a reset a new document is read, although the last one was incomplete', () => {
  const picker = new JsonPicker(paths);
  const picked: Picked[] = [];
  picker.push(Buffer.from('{"output":[{"id":"a\\'), picked);
  picker.reset();
  picker.push(Buffer.from('{"id":"b"}'), picked);
  assert.deepEqual(picked, [{ path: 'id', text: 'b' }]);
});

test('picks numbers exactly as they are written, across any chunks', () => {
  const text = '{"a":{"n":-1.5e+3,"t":"7","l":[1,{"n":2}],"b":true},"n":12,"z":null,"deep":{"a":{"n":5}}}';
  for (let step = 1; step < 9; step += 1) {
    const picker = new JsonPicker(['a.n', 'a.t', 'a.l.*.n', 'n', 'z'], 'numbers');
    const picked: Picked[] = [];
    for (let at = 0; at < text.length; at += step) picker.push(Buffer.from(text.slice(at, at + step)), picked);
    assert.deepEqual(
      picked.map(({ path, text: said }) => `${path}=${said}`),
      ['a.n=-1.5e+3', 'a.l.*.n=2', 'n=12'],
    );
  }
});
