/**
 * `npm run sample-words [-- --seed 1]`: prints a random sample of file openers, doc comments, test names, log events and docs paragraphs, for a
 * reader who does not know the project and explains each. At most one in thirty may fail.
 */

import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { findLogEvents } from './log-events.ts';

interface Sample {
  readonly text: string;
  readonly from: string;
}

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, help: { type: 'boolean', default: false } },
});
if (values.help) {
  console.log('npm run sample-words [-- --seed TEXT]: prints a random sample of texts; each seed draws another one.');
  process.exit(0);
}
const sources = globSync(['src/**/*.ts', 'console/src/**/*.{ts,tsx}']).toSorted();
const isTest = (path: string): boolean => /\.test\.tsx?$/.test(path);

print('openers of files', 30, sources.filter((path) => !isTest(path)).flatMap(openerOf));
print('doc comments', 60, sources.filter((path) => !isTest(path)).flatMap(commentsIn));
const tests = globSync('test/**/*.test.ts', { exclude: ['**/node_modules/**'] }).toSorted();
print('names of tests', 30, [...sources.filter(isTest), ...tests].flatMap(testsIn));
print(
  'events of the log',
  20,
  findLogEvents('.').map(({ name, fields, file }) => ({ text: [name, ...fields].join('  '), from: file })),
);
print(
  'paragraphs of the docs',
  20,
  globSync('docs/**/*.md', { exclude: ['docs/adr/**'] })
    .toSorted()
    .flatMap(paragraphsOf),
);

/** Prints the samples whose hash with the seed is the smallest, so that a new file changes few of the others. */
function print(title: string, count: number, all: readonly Sample[]): void {
  const rank = ({ text, from }: Sample): string =>
    createHash('sha256').update(`${values.seed}\n${from}\n${text}`).digest('hex');
  const drawn = all
    .map((sample) => [rank(sample), sample] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  console.log(`\n## ${title}: ${count} of ${all.length}, seed ${values.seed}\n`);
  for (const [index, [, { text, from }]] of drawn.slice(0, count).entries()) {
    console.log(`${index + 1}. ${text}\n   (${from})`);
  }
}

function openerOf(path: string): readonly Sample[] {
  const [, comment] = /^\/\*\*([\s\S]*?)\*\//.exec(readFileSync(path, 'utf8')) ?? [];
  return comment === undefined ? [] : [{ text: inOneLine(comment.replace(/^\s*\* ?/gm, '')), from: path }];
}

/** The doc comments of a file, each with the line that it describes. */
function commentsIn(path: string): readonly Sample[] {
  const found = readFileSync(path, 'utf8').matchAll(/^ *\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n(?: *\/\/.*\n)* *(\S.*)$/gm);
  return Array.from(found, ([, comment = '', line = '']) => ({
    text: `${inOneLine(comment.replace(/^\s*\* ?/gm, ''))}\n   ${line}`,
    from: path,
  }));
}

/** The names of a file's tests, each after the names of its suites, as in the output of the tests. */
function testsIn(path: string): readonly Sample[] {
  const names = readFileSync(path, 'utf8').matchAll(/^( *)(describe|test|it)\(\s*(['"`])((?:(?!\3)[^\\]|\\.)+)\3/gm);
  let suite = '';
  return names.toArray().flatMap(([, indent, kind, , name = '']) => {
    if (kind === 'describe') suite = `${name}: `;
    if (kind === 'describe') return [];
    return [{ text: `${indent === '' ? '' : suite}${name.replaceAll("\\'", "'")}`, from: path }];
  });
}

function paragraphsOf(path: string): readonly Sample[] {
  const withoutBlocks = readFileSync(path, 'utf8')
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/<!--[\s\S]*?-->/g, '');
  return withoutBlocks
    .split(/\n\s*\n/)
    .map(inOneLine)
    .filter((text) => /^[A-Z`*[-]/.test(text) && text.length >= 80)
    .map((text) => ({ text, from: path }));
}

function inOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
