/**
 * Refuses words that only this project used for things with an established name: in identifiers, file names, comments, names of tests, and
 * `docs/`. Files of the same name in two modules are refused as well.
 */

import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/** Words in the singular, and phrases, in lower case, each with its replacement. */
const banned: ReadonlyMap<string, string> = new Map([
  ['comes to', 'results in'],
  ['course', 'route plan'],
  ['desk', 'what it does: editor, limit server'],
  ['door', 'client API, or listener'],
  ['goes by', 'uses'],
  ['held against', 'compared with'],
  ['house', 'parent process, or the setup of a test'],
  ['keeper', 'the thing itself: budgets, memory pool'],
  ['leftover', 'fallback response'],
  ['mend', 'fix'],
  ['purse', 'local allowance'],
  ['put in force', 'apply'],
  ['rests', 'is in cooldown, or pauses'],
  ['say', 'report, log, or what it contains'],
  ['seat', 'connection quota'],
  ['shelf', 'shared cache'],
  ['suspicion', 'fault attribution'],
  ['tell', 'report, notify or distinguish'],
  ['told', 'reported, notified, listed or expected'],
  ['under way', 'in flight, or in progress'],
  ['unmoved', 'unchanged'],
  ['who', 'the client, caller, member or service that is meant'],
  ['whoever', 'the service, request or person that is meant'],
  ['whose', 'the owner, or its type'],
]);

/** Words that are banned in names only; in prose they have their usual meaning. */
const inCodeAlone: ReadonlySet<string> = new Set(['course', 'house', 'rests', 'say', 'tell', 'told', 'who', 'whose']);

/** Names that programs read, or that fixtures have. */
const allowed: ReadonlySet<string> = new Set(['notTold', 'say']);

/** Folders with one file for each row or feature, so that the same subject has a file in several of them. */
const bySubject = /^src\/(admin|apis|cli|config|core|families|routes|store)\//;

const words = [...banned.keys()];
const anyWord = new RegExp(words.join('|'), 'i');
const proseWords = words.filter((word) => !inCodeAlone.has(word));
const inProse = new RegExp(`\\b(${proseWords.join('|')})s?\\b`, 'gi');
const inComments = new RegExp(`\\b(${[...proseWords, 'rests', 'told'].join('|')})s?\\b`, 'gi');
const commentOrTest = /^\s*(?:\/\/|\/?\*|(?:describe|it|test)\()/;
let faults = 0;

function refuse(where: string, word: string): void {
  faults += 1;
  console.error(`${where}: not "${word}"; say: ${banned.get(word)} (tools/words.ts)`);
}

/** The banned words in a name in camel case, or with hyphens. */
function bannedIn(name: string): readonly string[] {
  const parts = name.match(/[A-Z]?[a-z]+|[A-Z]+/g) ?? [];
  return parts.map((part) => part.toLowerCase().replace(/s$/, '')).filter((word) => banned.has(word));
}

function checkCode(path: string): void {
  const text = readFileSync(path, 'utf8');
  // Few files contain the letters of a banned word: the others need not be parsed.
  if (!anyWord.test(text)) return;
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      for (const word of bannedIn(node.text)) {
        if (allowed.has(node.text)) continue;
        refuse(`${path}:${line + 1}`, word);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  checkLines(path, text, inComments, commentOrTest);
}

function checkLines(path: string, text: string, refused: RegExp, lines = /^/): void {
  for (const [index, line] of text.split('\n').entries()) {
    if (!lines.test(line)) continue;
    // Text in backticks is a name that programs read.
    const prose = line.replace(/`[^`]*`/g, '');
    for (const [, word = ''] of prose.matchAll(refused)) refuse(`${path}:${index + 1}`, word.toLowerCase());
  }
}

const code = globSync(['{src,test,bench,tools}/**/*.ts', 'console/src/**/*.{ts,tsx}'], {
  exclude: ['test/clients/**'],
});
for (const path of code) {
  for (const word of new Set(bannedIn(path))) refuse(path, word);
  checkCode(path);
}
const prose = ['docs/**/*.md', 'README.md', 'CONTRIBUTING.md', 'console/src/parts/words/labels.ts'];
for (const path of globSync(prose)) checkLines(path, readFileSync(path, 'utf8'), inProse);

const modules = Map.groupBy(
  code.filter((path) => path.startsWith('src/') && !bySubject.test(path)),
  (path) => path.slice(path.lastIndexOf('/') + 1),
);
for (const [name, paths] of modules) {
  if (new Set(paths.map((path) => path.split('/')[1])).size === 1) continue;
  faults += 1;
  console.error(`${name} is the name of a file in several modules: ${paths.join(', ')}; say in each what it is`);
}

process.exitCode = faults === 0 ? 0 : 1;
