/** `npm run chaos`: tests each promise under faults and attacks, each in its own process, and prints its figures beside their targets. */

import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { reasonOf, traceOf } from '../src/lib/thrown.ts';
import { playMoneyStory } from '../test/chaos/money-story.ts';
import type { Figure, Scale } from '../test/chaos/promise.ts';
import { playStory } from '../test/chaos/story.ts';
import { findPromises, type PromiseOutcome, runPromise } from '../test/chaos/support/promise-process.ts';
import {
  findStory,
  formatOutcomes,
  hasFailed,
  moneyStoryNo,
  replaceFigures,
  storyNo,
  toVerdict,
} from './chaos-report.ts';

const usage = `npm run chaos -- [options]
  --only 9,14   these promises only; "story" and "money-story" are those with the charts
  --short       smaller counts, seconds instead of minutes
  --seed N      repeats the randomness of an earlier run
  --json FILE   writes the figures there too
  --write       puts the figures into docs/reference/reliability-figures.md`;

const storySeconds: Readonly<Record<Scale, number>> = { short: 16, long: 40 };
const moneyStorySeconds: Readonly<Record<Scale, number>> = { short: 10, long: 45 };
const documentFile = 'docs/reference/reliability-figures.md';
/** Where progress lines cannot be overwritten, one is printed this often. */
const plainProgressIntervalMs = 10_000;

const { values } = parseArguments();
const scale: Scale = values.short === true ? 'short' : 'long';
const seed = values.seed === undefined ? randomInt(2 ** 31) : toWhole(values.seed, '--seed');
const isTerminal = process.stdout.isTTY;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const files = findPromises();
const wanted = values.only?.split(',').map((text) => toNumber(text.trim()));
for (const no of wanted ?? []) {
  if (no !== storyNo && no !== moneyStoryNo && !files.some((file) => file.no === no))
    refuse(`there is no promise ${no}`);
}

console.log(`seed ${seed}, ${scale} form`);
const outcomes: PromiseOutcome[] = [];
for (const file of files) {
  if (wanted !== undefined && !wanted.includes(file.no)) continue;
  const name = `${file.no} ${file.slug.replaceAll('-', ' ')}`;
  const showProgress = createProgress(name);
  showProgress('starts');
  const outcome = await runPromise(file, { scale, seed, onProgress: showProgress });
  outcomes.push(outcome);
  replaceLine(`${name}: ${toVerdict(outcome)} (${outcome.seconds.toFixed(1)} s)\n`);
}

for (const [no, play] of [
  [storyNo, runStory],
  [moneyStoryNo, runMoneyStory],
] as const) {
  if (wanted === undefined || wanted.includes(no)) outcomes.push(await play());
}

console.log(`\n${formatOutcomes(outcomes, process.stdout)}`);
if (values.json !== undefined) {
  writeFileSync(values.json, `${JSON.stringify({ seed, scale, outcomes }, undefined, 2)}\n`);
}
if (values.write === true) {
  writeFileSync(documentFile, replaceFigures(readFileSync(documentFile, 'utf8'), outcomes, scale));
}
process.exitCode = outcomes.some(hasFailed) ? 1 : 0;

function parseArguments() {
  try {
    return parseArgs({
      options: {
        only: { type: 'string' },
        short: { type: 'boolean' },
        seed: { type: 'string' },
        json: { type: 'string' },
        write: { type: 'boolean' },
      },
    });
  } catch (error) {
    return refuse(reasonOf(error));
  }
}

function runStory(): Promise<PromiseOutcome> {
  const outcome = { no: storyNo, title: 'three upstreams fail in three ways and come back, under load' };
  return runAndReport(outcome, () => playStory({ seed, seconds: storySeconds[scale], log }));
}

function runMoneyStory(): Promise<PromiseOutcome> {
  const title =
    'two nodes with one budget and limits; one is killed and comes back; then ledger, budgets and upstream are compared';
  return runAndReport({ no: moneyStoryNo, title }, async () => {
    const figures: Figure[] = [];
    for (const store of ['postgres', 'sqlite'] as const) {
      figures.push(...(await playMoneyStory({ seed, seconds: moneyStorySeconds[scale], store, log })));
    }
    return figures;
  });
}

/** In this process, as the story draws on the terminal. */
async function runAndReport(
  outcome: { readonly no: number; readonly title: string },
  play: () => Promise<readonly Figure[]>,
): Promise<PromiseOutcome> {
  const startedMs = performance.now();
  try {
    const figures = await play();
    return { ...outcome, figures, seconds: (performance.now() - startedMs) / 1000, failure: undefined };
  } catch (error) {
    const failure = traceOf(error);
    return { ...outcome, figures: [], seconds: (performance.now() - startedMs) / 1000, failure };
  }
}

function log(line: string): void {
  console.log(line);
}

function toNumber(text: string): number {
  return findStory(text) ?? toWhole(text, '--only');
}

function toWhole(text: string, option: string): number {
  return /^\d{1,10}$/.test(text) ? Number(text) : refuse(`${option} takes numbers, not ${JSON.stringify(text)}`);
}

function refuse(reason: string): never {
  console.error(`${reason}\n\n${usage}`);
  process.exit(1);
}

function createProgress(name: string): (line: string) => void {
  let shownAtMs = performance.now();
  return (line) => {
    if (isTerminal) return replaceLine(`${name}: ${line}`);
    const nowMs = performance.now();
    if (nowMs - shownAtMs < plainProgressIntervalMs) return;
    shownAtMs = nowMs;
    console.log(`${name}: ${line}`);
  };
}

function replaceLine(line: string): void {
  if (!isTerminal) {
    process.stdout.write(line);
    return;
  }
  const plain = stripVTControlCharacters(line).replaceAll('\r', ' ');
  // What is replaced later must fit one row; what stays may take several.
  const shown = plain.endsWith('\n') ? plain : plain.slice(0, (process.stdout.columns || 80) - 1);
  process.stdout.write(`\r\x1b[2K${shown}`);
}
