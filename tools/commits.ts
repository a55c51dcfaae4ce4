/** Subjects of commits: `type(scope): imperative summary`, at most 72 characters. Judges those since `base`; older ones stay as they are. */

import { spawnSync } from 'node:child_process';

const base = '5c31398179ec404313ba088149809816040fbc3c';
const mostCharacters = 72;
const form =
  /^(bench|build|chore|ci|docs|feat|fix|perf|refactor|revert|style|test)(\([a-z0-9][a-z0-9,./ -]*\))?!?: (\S.*)$/;
/** "adds", "added", "adding": a summary is an imperative. */
const notImperative =
  /^(?:[a-z]+[^eaiou]ing|[a-z]+[^e]ed|(?:add|allow|chang|fix|introduc|mak|mov|remov|renam|support|updat|us)e?s)$/;
const imperative: ReadonlySet<string> = new Set(['bring', 'embed', 'ring', 'shed', 'spring', 'string', 'swing']);

export function faultIn(subject: string): string | undefined {
  if (subject.length > mostCharacters)
    return `has ${subject.length} characters, and ${mostCharacters} at most are read`;
  const [, , , summary] = form.exec(subject) ?? [];
  if (summary === undefined)
    return 'is not of the form "type(scope): summary", such as "fix(bedrock): read a null query"';
  if (summary.endsWith('.')) return 'ends with a full stop; leave it out';
  const [first = ''] = summary.split(' ');
  if (notImperative.test(first) && !imperative.has(first))
    return `begins with "${first}"; say it as an order: "add", "fix"`;
  return undefined;
}

if (import.meta.main) {
  const git = (...args: readonly string[]) => spawnSync('git', args, { encoding: 'utf8' });
  // An archive of the source, and a clone of its newest commits alone, have nothing to judge.
  const isThere = git('merge-base', '--is-ancestor', base, 'HEAD').status === 0;
  const subjects = isThere ? git('log', '--no-merges', '--format=%h %s', `${base}..HEAD`).stdout : '';
  for (const line of subjects.split('\n').filter((one) => one !== '')) {
    const at = line.indexOf(' ');
    const fault = faultIn(line.slice(at + 1));
    if (fault === undefined) continue;
    console.error(`${line}: ${fault}`);
    process.exitCode = 1;
  }
}
