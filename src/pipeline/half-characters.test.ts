import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileWatchedKeys, scanJson } from '../lib/json/json-scan.ts';
import { atOnce } from '../lib/time-slices.ts';
import { halfCharacterIn, halfIn } from './half-characters.ts';

const at = (text: string): number | undefined => atOnce(halfIn(Buffer.from(text)));

test('finds lone surrogates anywhere, and ignores pairs', () => {
  for (const whole of [
    '"plain"',
    '"\\ud83d\\ude00"',
    '"\\uD83D\\uDE00\\ud83d\\uDE00"',
    '"\\\\ud800"',
    '"\\u00d8"',
    '"\\ud7ff\\ue000"',
    '"\\ud"',
  ]) {
    assert.equal(at(whole), undefined, whole);
  }
  for (const [text, where] of [
    ['"\\ud800"', 1],
    ['"\\uDC00"', 1],
    ['"x\\ud83d"', 2],
    ['"\\ud83d\\ude00\\ude00"', 13],
    ['"\\ud83d\\ud83d\\ude00"', 1],
    ['"\\\\\\ud800"', 3],
    ['"\\ud83d\\\\ude00"', 1],
    ['"\\uDfff \\ud800"', 1],
  ] as const) {
    assert.equal(at(text), where, text);
  }
});

test('finds a lone surrogate in exactly the texts that isWellFormed() rejects', () => {
  const unit = fc.integer({ min: 0xd700, max: 0xe0ff }).map((code) => String.fromCharCode(code));
  fc.assert(
    fc.property(fc.array(fc.oneof(unit, fc.constantFrom('\\', 'a', '"', 'u')), { maxLength: 12 }), (units) => {
      const text = units.join('');
      const escaped = `"${[...Array(text.length).keys()]
        .map((index) => text.charCodeAt(index))
        .map((code) =>
          code > 0xff ? `\\u${code.toString(16)}` : JSON.stringify(String.fromCharCode(code)).slice(1, -1),
        )
        .join('')}"`;
      assert.equal(JSON.parse(escaped), text);
      assert.equal(at(escaped) === undefined, text.isWellFormed());
    }),
  );
});

test('finds lone surrogates across the chunks of a long text', () => {
  const seam = 64 * 1024;
  for (let before = seam - 8; before <= seam + 2; before += 1) {
    assert.equal(at(`${'a'.repeat(before)}\\ud83d\\ude00\\ud800`), before + 12, String(before));
  }
});

test('a long body is searched in slices that yield to the event loop', async () => {
  const body = Buffer.from(`{"input":"${'\\\\'.repeat(4 * 1024 * 1024)}\\ud800"}`);
  const scan = scanJson(body, compileWatchedKeys(['input']));
  assert.ok(scan.ok);
  let slices = 0;
  let isOver = false;
  const count = (): void => {
    slices += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const refusal = await halfCharacterIn({
    body,
    scan,
    modelField: undefined,
    mayNameOthers: false,
    standIn: undefined,
    words: undefined,
  });
  isOver = true;
  assert.equal(refusal?.param, 'input');
  assert.ok(slices > 2, `${slices} slices`);
});
