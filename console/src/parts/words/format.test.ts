import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forecastWords, formatPercent, formatTime } from './format.ts';

test('formats no small share as 0 %, and no share just below all as 100 %', () => {
  const shares = [0, 0.00004, 0.0025, 0.0123, 0.5, 0.9994, 0.99999, 1, 3.5];
  const words = shares.map((share) => formatPercent(share).replace(/\s/, ' '));
  assert.deepEqual(words, ['0 %', '0.004 %', '0.25 %', '1.2 %', '50 %', '99.94 %', '99.99 %', '100 %', '350 %']);
});

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 10, 26);
const at = (hours: number): string => new Date(startMs + hours * hourMs).toISOString();
const day = { amount: '10', startsAt: at(0), endsAt: at(24) };

test('predicts the earliest and latest end of a budget that will not last its period', () => {
  // Six in six hours: four are left, at one an hour.
  const words = forecastWords({ ...day, spent: '6' }, startMs + 6 * hourMs);
  assert.equal(words, `${formatTime(at(10))} (between ${formatTime(at(9))} and ${formatTime(at(12))})`);
});

test('distinguishes budgets that last, are spent, or are too new to predict', () => {
  assert.match(forecastWords({ ...day, spent: '1' }, startMs + 12 * hourMs), /^Lasts until it resets/);
  assert.match(forecastWords({ ...day, spent: '4.5' }, startMs + 12 * hourMs), /^Lasts, barely/);
  assert.match(forecastWords({ ...day, spent: '10' }, startMs + 12 * hourMs), /^Spent; resets/);
  assert.equal(forecastWords({ ...day, spent: '0' }, startMs), 'Not to be told yet');
  assert.equal(
    forecastWords({ amount: '10', spent: '1', startsAt: null, endsAt: null }, startMs),
    'Not to be told yet',
  );
});
