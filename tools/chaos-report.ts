/** Prints the figures of a chaos run as a table, and writes them into docs/reference/reliability-figures.md, a section for each promise. */

import { styleText } from 'node:util';
import type { Figure, Scale } from '../test/chaos/promise.ts';
import type { PromiseOutcome } from '../test/chaos/support/promise-process.ts';

type Verdict = 'met' | 'missed' | 'broken';

const columns = ['', 'figure', 'measured', 'bar', ''] as const;
const colours = { met: 'green', missed: 'yellow', broken: 'red' } as const;

/** A longer cell is cut in the table, and printed whole on a line of its own. */
const widestCellCharacters = 48;

/** Stories have no number of their own; they come before promises, which do. */
export const storyNo = 0;
export const moneyStoryNo = 0.5;
const storyNames: ReadonlyMap<number, string> = new Map([
  [storyNo, 'story'],
  [moneyStoryNo, 'money-story'],
]);

const opening = '<!-- figures -->';
const closing = '<!-- /figures -->';
const sectionTableHead = ['| figure | goal | measured | met |', '|---|---|---|---|'] as const;

/** Whether this outcome makes the run as a whole fail. */
export function hasFailed({ figures, failure }: PromiseOutcome): boolean {
  return failure !== undefined || figures.some((figure) => verdictOf(figure) === 'broken');
}

export function toVerdict({ figures, failure }: PromiseOutcome): string {
  const count = (wanted: Verdict): number => figures.filter((figure) => verdictOf(figure) === wanted).length;
  if (failure !== undefined) return 'failed';
  if (count('broken') > 0) return `broken, ${count('broken')} of ${figures.length} figures`;
  if (count('missed') > 0) return `kept, but ${count('missed')} of ${figures.length} figures missed their bar`;
  return 'kept';
}

/** The table of the outcomes, coloured if `stream` supports colours. */
export function formatOutcomes(outcomes: readonly PromiseOutcome[], stream: NodeJS.WriteStream): string {
  const paint = (verdict: Verdict, text: string): string => styleText(colours[verdict], text, { stream });
  const cells = outcomes.flatMap(({ figures }) => figures.map(toCells));
  const widths = columns.map((title, column) =>
    Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  const toLine = (row: readonly string[]): string =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd();

  const lines = [toLine(columns)];
  for (const { no, title, figures, failure } of outcomes) {
    lines.push(styleText('bold', `${nameOf(no)}  ${title}`, { stream }));
    for (const figure of figures) {
      lines.push(paint(verdictOf(figure), toLine(toCells(figure))));
      if (figure.measured !== inShort(figure)) lines.push(paint(verdictOf(figure), `      ${figure.measured}`));
    }
    if (failure !== undefined) lines.push(paint('broken', indent(`failed: ${failure}`)));
  }
  return [...lines, '', ...summaryOf(outcomes)].join('\n');
}

/** Puts the figures between the markers; sections of promises that were not measured stay as they are. */
export function replaceFigures(document: string, outcomes: readonly PromiseOutcome[], scale: Scale): string {
  const start = document.indexOf(opening);
  const end = document.indexOf(closing);
  if (start === -1 || end < start) throw new Error(`the document has no ${opening} and ${closing}`);

  const present = document
    .slice(start, end)
    .split(/^(?=### )/m)
    .flatMap((section) => {
      const name = /^### (\d+|[a-z-]*story): /.exec(section)?.[1];
      return name === undefined ? [] : [{ no: findStory(name) ?? Number(name), section: section.trimEnd() }];
    });
  const measured = outcomes.filter(({ failure }) => failure === undefined);
  const kept = present.filter(({ no }) => !measured.some((outcome) => outcome.no === no));
  const fresh = measured.map((outcome) => ({ no: outcome.no, section: toSection(outcome, scale) }));
  const sections = [...kept, ...fresh].sort((a, b) => a.no - b.no).map(({ section }) => section);
  return `${document.slice(0, start)}${[opening, ...sections].join('\n\n')}\n\n${document.slice(end)}`;
}

function toSection({ no, title, figures }: PromiseOutcome, scale: Scale): string {
  const command = `\`npm run chaos -- --only ${nameOf(no)}${scale === 'short' ? ' --short' : ''}\``;
  const rows = figures.map(({ name, bar, measured, met }) => {
    const cells = [name, bar, measured, met ? 'yes' : 'no'];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return [`### ${nameOf(no)}: ${title}`, '', command, '', ...sectionTableHead, ...rows].join('\n');
}

/** The number of the story with this name. */
export function findStory(name: string): number | undefined {
  for (const [no, known] of storyNames) if (known === name) return no;
  return undefined;
}

function nameOf(no: number): string {
  return storyNames.get(no) ?? String(no);
}

function verdictOf({ met, broken = false }: Figure): Verdict {
  if (broken) return 'broken';
  return met ? 'met' : 'missed';
}

function toCells(figure: Figure): string[] {
  return ['', figure.name, inShort(figure), figure.bar, verdictOf(figure)];
}

function inShort({ measured }: Figure): string {
  if (measured.length <= widestCellCharacters) return measured;
  return (measured.split(/[;,] /, 1)[0] ?? '').slice(0, widestCellCharacters);
}

function summaryOf(outcomes: readonly PromiseOutcome[]): string[] {
  const failed = outcomes.filter(hasFailed).map(({ no }) => nameOf(no));
  const missed = outcomes.flatMap(({ no, figures }) =>
    figures
      .filter((figure) => verdictOf(figure) === 'missed')
      .map(
        (figure) =>
          `Missed, though not broken: ${nameOf(no)}, ${figure.name}: ${inShort(figure)}; the bar is ${figure.bar}.`,
      ),
  );
  const kept = outcomes.length - failed.length;
  return [
    ...missed,
    `Promises kept: ${kept} of ${outcomes.length}${failed.length === 0 ? '' : `; not kept: ${failed.join(', ')}`}.`,
  ];
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '  ');
}
