import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forecastWords, formatTime } from './format.ts';

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 10, 26);
const at = (hours: number): string => new Date(startMs + hours * hourMs).toISOString();
const day = { amount: '10', startsAt: at(0), endsAt: at(24) };

test('predicts the earliest and latest end of a budget that will not last its period', () => {
  // Six in six hours: four are left, at one an hour.
  const words = forecastWords({ ...day, spent: '6' }, startMs + 6 * hourMs);
  assert.equal(words, `${formatTime(at(10))} (between ${formatTime(at(9))} and ${formatTime(at(12))})`);
});

test('tells budgets that last, spent ones, and those too new to predict', () => {
  assert.match(forecastWords({ ...day, spent: '1' }, startMs + 12 * hourMs), /^Lasts until it begins anew/);
  assert.match(forecastWords({ ...day, spent: '4.5' }, startMs + 12 * hourMs), /^Lasts, barely/);
  assert.match(forecastWords({ ...day, spent: '10' }, startMs + 12 * hourMs), /^Spent; begins anew/);
  assert.equal(forecastWords({ ...day, spent: '0' }, startMs), 'Not to be told yet');
  assert.equal(
    forecastWords({ amount: '10', spent: '1', startsAt: null, endsAt: null }, startMs),
    'Not to be told yet',
  );
});
