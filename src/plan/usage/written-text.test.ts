import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyGrapheme } from '../../../test/support/any-character.ts';
import { createTextReader } from './written-text.ts';

function writtenIn(
  text: string | Buffer,
  isStream = false,
  isMany = false,
  size = Number.POSITIVE_INFINITY,
  names = ['text'],
) {
  const reader = createTextReader(isStream, isMany, names);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
  return reader.written();
}

const choicesOf = (texts: readonly string[]): string =>
  JSON.stringify({
    choices: texts.map((text, index) => ({ text, index, logprobs: { text_offset: [0], tokens: ['"text"'] } })),
  });

const eventsOf = (texts: readonly (readonly [index: number, text: string])[]): string =>
  texts.map(([index, text]) => `data: ${JSON.stringify({ choices: [{ text, index }] })}\n\n`).join('');

test('counts each choice with text and its bytes, across any chunks', () => {
  const texts = ['a', '', 'with "quotes" and \\ at its end \\', 'é🚀', '"text": "no text"'];
  const whole = choicesOf(texts);
  const bytes = texts.map((text) => Buffer.byteLength(JSON.stringify(text)) - 2).reduce((sum, one) => sum + one);
  for (let size = 1; size <= 90; size += 1) {
    const written = writtenIn(whole, false, false, size);
    assert.deepEqual([written.texts, written.choices, written.bytes], [4, 4, bytes], `${size} bytes at a time`);
    assert.equal(written.sample.length, bytes);
  }
});

test('counts any text the same across any chunks', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: anyGrapheme }), { maxLength: 6 }),
      fc.integer({ min: 1, max: 40 }),
      (texts, size) => {
        const { texts: seen, choices } = writtenIn(choicesOf(texts), false, false, size);
        const expected = texts.filter((text) => text !== '').length;
        assert.deepEqual([seen, choices], [expected, expected]);
        const stream = writtenIn(eventsOf(texts.map((text) => [0, text])), true, false, size);
        assert.deepEqual([stream.texts, stream.choices], [expected, Math.min(expected, 1)]);
      },
    ),
  );
});

test("white space may precede a text field's value, and values that are no texts are not counted", () => {
  assert.equal(writtenIn('{"choices":[{"text" :\n "a"}]}').texts, 1);
  assert.equal(writtenIn('{"choices":[{"text":null},{"text":{"text":1}}]}').texts, 0);
  assert.equal(writtenIn('{"text').texts, 0);
});

test('counts each streamed choice once, also if events hold several choices or invalid JSON', () => {
  const events = eventsOf([
    [0, 'a'],
    [2, 'b'],
    [0, 'c'],
    [1, ''],
  ]);
  const both = `data: ${JSON.stringify({
    choices: [
      { index: 3, text: 'd' },
      { index: 4, text: 'e' },
    ],
  })}\n\n`;
  for (const size of [1, 10, 1000]) {
    const written = writtenIn(`${events}${both}data: [DONE]\n\n`, true, true, size);
    assert.deepEqual([written.texts, written.choices, written.bytes], [5, 4, 5]);
  }
  for (const size of [1, 1000]) {
    assert.equal(writtenIn(`${events}data: {"no JSON\n\n${both}`, true, true, size).choices, 2);
  }
});

test('the text of a long answer is extrapolated from its beginning, and the sample has at most 4096 bytes', () => {
  const { bytes, sample } = writtenIn(choicesOf(['x'.repeat(60_000)]), false, false, 1000);
  assert.deepEqual([bytes, sample.length], [60_000, 4096]);
  const long = writtenIn(eventsOf(Array.from({ length: 10_000 }, () => [0, 'word'])), true, false, 1000);
  assert.ok(Math.abs(long.texts - 10_000) < 100, `${long.texts}`);
  assert.ok(Math.abs(long.bytes - 40_000) < 400, `${long.bytes}`);
});

const deltaOf = (index: number, delta: object): string =>
  `data: ${JSON.stringify({ choices: [{ index, delta }] })}\n\n`;

test('chat output is content, reasoning and tool calls', () => {
  const names = ['content', 'reasoning_content', 'arguments'];
  const message = {
    role: 'assistant',
    content: 'four',
    reasoning_content: '2+2',
    tool_calls: [{ function: { name: 'f', arguments: '{"a":1}' } }],
  };
  const whole = writtenIn(JSON.stringify({ choices: [{ index: 0, message }] }), false, false, 7, names);
  assert.deepEqual([whole.texts, whole.bytes], [3, 4 + 3 + 9]);
  const stream = [
    deltaOf(0, { role: 'assistant', content: '' }),
    deltaOf(0, { content: 'fo' }),
    deltaOf(1, { content: 'ur' }),
  ].join('');
  for (const isMany of [false, true]) {
    const { texts, bytes, choices } = writtenIn(stream, true, isMany, 5, names);
    assert.deepEqual([texts, bytes, choices], [2, 4, isMany ? 2 : 1]);
  }
});
