import assert from 'node:assert/strict';
import { test } from 'node:test';
import { luminance, toColours } from './colour.ts';

const toRgb = (text: string): [number, number, number] => {
  const hex = /^#(..)(..)(..)$/.exec(text)?.slice(1);
  const [r = 0, g = 0, b = 0] = hex?.map((part) => Number.parseInt(part, 16)) ?? text.match(/\d+/g)?.map(Number) ?? [];
  return [r, g, b];
};

test('numbers are legible on every colour of the heat map', () => {
  for (let step = 0; step <= 200; step += 1) {
    const { background, text } = toColours(step / 200);
    const [one, other] = [luminance(toRgb(background)), luminance(toRgb(text))];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    assert.ok(contrast >= 4.5, `${background} under ${text}: ${contrast.toFixed(2)}`);
  }
});

test('a higher value is darker', () => {
  const values = [0, 0.25, 0.5, 0.75, 1].map((share) => luminance(toRgb(toColours(share).background)));
  assert.deepEqual(
    values,
    [...values].sort((a, b) => b - a),
  );
});
