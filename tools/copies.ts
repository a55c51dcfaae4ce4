/** Finds duplicated code: each pair of locations with the same lines is reported, and has to be merged. */

import { globSync, readFileSync } from 'node:fs';
import { findCopies } from './copied-lines.ts';

/** Fewer equal lines are accidental, or too few to share. */
const leastLines = 8;

const paths = globSync(['{src,tools,test,bench}/**/*.ts', 'console/src/**/*.{ts,tsx}'], {
  // Fixtures: the responses of different upstreams are separate, even if their text is equal.
  exclude: ['test/families/**', 'test/clients/**'],
}).toSorted();

for (const { one, other, lines } of findCopies(
  new Map(paths.map((path) => [path, readFileSync(path, 'utf8')])),
  leastLines,
)) {
  console.error(
    `${one.path}:${one.line} and ${other.path}:${other.line} have ${lines} lines in common; write them once`,
  );
  process.exitCode = 1;
}
