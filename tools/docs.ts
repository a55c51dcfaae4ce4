/** Compares the docs with the code: error codes, routes, commands and options, metrics, log events, both ways. */

import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { problemTable } from '../src/admin/problem.ts';
import { clientApis } from '../src/apis/index.ts';
import { commandNames, loadCommand } from '../src/cli/index.ts';
import { type ErrorCode, errorTable, upstreamCodes } from '../src/core/errors.ts';
import { objectRoutes, routes } from '../src/routes/index.ts';
import { formerNames } from '../src/telemetry/log.ts';
import { definitions, metricNames } from '../src/telemetry/metrics/definitions.ts';
import { findLogEvents } from './log-events.ts';

const commands = await Promise.all(commandNames.map(loadCommand));

const faults: string[] = [];

/** Limit of the words of a log event's name; what is more goes into fields. */
const mostEventWords = 6;

checkErrors(readFileSync('docs/reference/errors.md', 'utf8'));
checkRoutes(readFileSync('docs/reference/routes.md', 'utf8'));
checkClientApis(readFileSync('docs/reference/client-apis.md', 'utf8'));
checkCommands(readFileSync('docs/reference/command-line.md', 'utf8'));
checkMetrics(readFileSync('docs/reference/metrics.md', 'utf8'));
checkProblems(readFileSync('docs/reference/admin-api.md', 'utf8'));
checkLogEvents(readFileSync('docs/reference/logging.md', 'utf8'));
checkShownFiles(readFileSync('CONTRIBUTING.md', 'utf8'));
checkReleases(readFileSync('docs/reference/releases.md', 'utf8'));
checkSupported(readFileSync('SECURITY.md', 'utf8'), readFileSync('docs/reference/releases.md', 'utf8'));

for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;

/** Rows of docs/reference/errors.md: `| 400 | invalid_request_error | `invalid_json` | ... |`. */
function checkErrors(text: string): void {
  const documented = new Map<string, { status: string; type: string }>();
  const [own = ''] = text.split('\n## Upstream errors');
  for (const [, status, type, code] of own.matchAll(/^\| (\d{3}) \| (\S+) \| `(\w+)` \|/gm)) {
    documented.set(code ?? '', { status: status ?? '', type: type ?? '' });
  }
  for (const code of Object.keys(errorTable) as ErrorCode[]) {
    const row = documented.get(code);
    const { status, type } = errorTable[code];
    if (row === undefined) faults.push(`docs/reference/errors.md: the error code ${code} is missing`);
    else if (row.status !== String(status) || (row.type !== type && status !== 499)) {
      faults.push(`docs/reference/errors.md: ${code} is ${status} ${type} in the code, ${row.status} ${row.type} here`);
    }
  }
  for (const code of upstreamCodes) {
    if (!text.includes(`| \`${code}\` |`)) faults.push(`docs/reference/errors.md: the error code ${code} is missing`);
  }
  for (const code of documented.keys()) {
    if (!(code in errorTable)) faults.push(`docs/reference/errors.md: there is no error code ${code}`);
  }
}

/** Rows of docs/reference/admin-api.md: `| 412 | `changed_meanwhile` | It was changed in the meantime | ... |`. */
function checkProblems(text: string): void {
  const documented = new Map<string, string>();
  for (const [, status = '', code = '', title = ''] of text.matchAll(/^\| (\d{3}) \| `(\w+)` \| ([^|]+) \|/gm)) {
    documented.set(code, `${status} ${title}`);
  }
  for (const [code, { status, title }] of Object.entries(problemTable)) {
    const found = documented.get(code);
    if (found === undefined) faults.push(`docs/reference/admin-api.md: the problem ${code} is missing`);
    else if (found !== `${status} ${title}`) {
      faults.push(`docs/reference/admin-api.md: ${code} is "${status} ${title}" in the code, "${found}" here`);
    }
  }
  for (const code of documented.keys()) {
    if (!(code in problemTable)) faults.push(`docs/reference/admin-api.md: there is no problem ${code}`);
  }
}

function checkRoutes(text: string): void {
  const known = new Set(
    [...routes, ...objectRoutes.map(({ route }) => route)]
      .filter(({ entry }) => entry === undefined)
      .flatMap((route) => [route.path, ...route.aliases]),
  );
  for (const path of known) {
    if (!text.includes(`\`${path}\``) && !text.includes(` ${path}\``)) {
      faults.push(`docs/reference/routes.md: the path ${path} is missing`);
    }
  }
  for (const [, path] of text.matchAll(/^\| `POST (\/\S+)` \|/gm)) {
    if (path !== undefined && !known.has(path)) faults.push(`docs/reference/routes.md: there is no route ${path}`);
  }
}

/** Checks the paths of client APIs, which the docs list without their prefix. */
function checkClientApis(text: string): void {
  const mappings = routes.flatMap((route) => [
    ...(route.entry === undefined ? [] : route.entry.mapping.paths),
    ...Object.keys(route.clientApiPaths ?? {}).filter((path) => !/^\/(?:openai|(?:ollama|api)\/v1)\//.test(path)),
  ]);
  const pages = clientApis.flatMap((clientApi) => [
    ...clientApi.fixedEndpoints.flatMap(({ paths }) => paths),
    ...clientApi.modelLists,
    clientApi.prefix,
  ]);
  for (const path of [...mappings, ...pages]) {
    if (!text.includes(`\`${path}\``) && !text.includes(` ${path}\``)) {
      faults.push(`docs/reference/client-apis.md: the path ${path} is missing`);
    }
  }
}

/** Options that nearly every command has are described once, before the first command. */
function checkCommands(text: string): void {
  const [opening = ''] = text.split(/^## /m);
  const common = ['config', 'set'].filter((option) => opening.includes(`\`--${option}`));
  const names = new Set(commands.map(({ name }) => name));
  for (const { name, options } of commands) {
    const section = text.split(/^## /m).find((part) => part.startsWith(`\`postern ${name}`));
    if (section === undefined) {
      faults.push(`docs/reference/command-line.md: the command ${name} is missing`);
      continue;
    }
    const documented = new Set([...section.matchAll(/`--([a-z-]+)/g)].map(([, option]) => option ?? ''));
    for (const option of Object.keys(options)) {
      if (!documented.has(option) && !common.includes(option))
        faults.push(`docs/reference/command-line.md: ${name} --${option} is missing`);
    }
    for (const option of documented) {
      if (!(option in options)) faults.push(`docs/reference/command-line.md: ${name} has no option --${option}`);
    }
  }
  for (const [, name] of text.matchAll(/^## `postern (\w+)/gm)) {
    if (name !== undefined && !names.has(name))
      faults.push(`docs/reference/command-line.md: there is no command ${name}`);
  }
}

/** Rows of docs/reference/metrics.md: `| `name` | gauge, summed | `label`, `label` | unit | meaning |`, with the labels in their order. */
function checkMetrics(text: string): void {
  const across = { sum: 'summed', most: 'highest', least: 'lowest' } as const;
  const documented = new Map<string, string>();
  for (const [, name = '', kind = '', labels = ''] of text.matchAll(
    /^\| `(\w+)` \| ([a-z, ]+) \| (.*?) ?\| .+ \| .+ \|$/gm,
  )) {
    documented.set(name, `${kind}: ${labels.replaceAll('`', '')}`);
  }
  for (const name of metricNames) {
    const { type, labels, across: sense } = definitions[name];
    const wanted = `${type === 'gauge' ? `gauge, ${across[sense]}` : type}: ${labels.join(', ')}`;
    const found = documented.get(name);
    if (found === undefined) faults.push(`docs/reference/metrics.md: the metric ${name} is missing`);
    else if (found !== wanted)
      faults.push(`docs/reference/metrics.md: ${name} is "${wanted}" in the code, "${found}" here`);
  }
  for (const name of documented.keys()) {
    if (!(name in definitions)) faults.push(`docs/reference/metrics.md: there is no metric ${name}`);
  }
  for (const [name] of text.matchAll(/\bpostern_[a-z_]+/g)) {
    const base = name.replace(/_(bucket|sum|count)$/, '');
    if (!(base in definitions)) faults.push(`docs/reference/metrics.md: there is no metric ${name}`);
  }
}

/** Rows of docs/reference/logging.md: `| `event` | level | `field`, `field` | meaning |`, and of renamed events `| `former name` | `event` |`. */
function checkLogEvents(text: string): void {
  const page = 'docs/reference/logging.md';
  const documented = new Map<string, { level: string; fields: ReadonlySet<string> }>();
  for (const [, name = '', level = '', fields = ''] of text.matchAll(
    /^\| `([^`]+)` \| (debug|info|warn|error) \| (.*?) ?\| .+ \|$/gm,
  )) {
    documented.set(name, { level, fields: new Set(fields.match(/[a-z_]+/g)) });
  }
  const written = new Map<string, { fields: Set<string>; isOpen: boolean; source: string }>();
  for (const { file, level, name, fields, isOpen } of findLogEvents('.')) {
    const row = documented.get(name);
    const known = written.get(name) ?? { fields: new Set(), isOpen: false, source: '' };
    written.set(name, {
      fields: known.fields.union(new Set(fields)),
      isOpen: known.isOpen || isOpen,
      source: known.source + readFileSync(file, 'utf8'),
    });
    if (name.split(' ').length > mostEventWords) faults.push(`${file}: the event "${name}" is too long: use fields`);
    if (row === undefined) faults.push(`${page}: the event "${name}" of ${file} is missing`);
    else {
      if (row.level !== level) faults.push(`${page}: "${name}" is ${level} in ${file}, ${row.level} here`);
      for (const field of fields) {
        if (!row.fields.has(field)) faults.push(`${page}: "${name}" lacks the field ${field} of ${file}`);
      }
    }
  }
  // The log itself has former names.
  const sources = globSync('src/**/*.ts').filter((file) => !/\.test\.ts$|^src.telemetry.log\.ts$/.test(file));
  const source = sources.map((file) => readFileSync(file, 'utf8')).join('\n');
  for (const [name, { fields }] of documented) {
    const event = written.get(name);
    if (event === undefined && !source.includes(`'${name}'`)) faults.push(`${page}: there is no event "${name}"`);
    for (const field of fields) {
      const isThere =
        event?.isOpen === false ? event.fields.has(field) : new RegExp(`\\b${field}\\b`).test(event?.source ?? source);
      if (!isThere) faults.push(`${page}: "${name}" has no field ${field}`);
    }
  }
  const renamed = new Set(Object.entries(formerNames).map(([name, former]) => `| \`${former}\` | \`${name}\` |`));
  const listed = new Set(text.match(/^\| `[^`]+` \| `[^`]+` \|$/gm));
  for (const row of renamed.symmetricDifference(listed)) faults.push(`${page}: here or in formerNames alone: ${row}`);
  for (const name of Object.keys(formerNames)) {
    if (!documented.has(name)) faults.push(`src/telemetry/log.ts: there is no event "${name}"`);
  }
  for (const quoting of globSync('docs/{guides,reference,explanations}/*.md')) {
    const others = readFileSync(quoting, 'utf8').replaceAll(/^\| `[^`]+` \| `[^`]+` \|$/gm, '');
    for (const [name, former] of Object.entries(formerNames)) {
      const words = former
        .split(/\{\w+\}/)
        .map(RegExp.escape)
        .join('\\S+');
      if (former.includes(' ') && new RegExp(`\`${words}\``).test(others)) {
        faults.push(`${quoting}: the event "${former}" is now "${name}"`);
      }
    }
  }
}

/** Checks diffs in the docs: the file must have the diff's result; a diff that begins with an empty file shows all of it. */
function checkShownFiles(text: string): void {
  const shown = Array.from(text.matchAll(/^```diff\n([\s\S]*?)^```$/gm), ([, diff = '']) => diff);
  for (const part of shown.flatMap((diff) => diff.split(/^(?=--- \S)/m))) {
    const [, from, path = '', hunks = ''] = /^--- (\S+)\n\+\+\+ b\/(\S+)\n([\s\S]*)$/.exec(part) ?? [];
    const file = readFileSync(path, 'utf8');
    for (const hunk of hunks.split(/^@@.*\n/m).slice(1)) {
      const left = hunk.replaceAll(/^-.*\n/gm, '').replaceAll(/^[ +]/gm, '');
      const isThere = from === '/dev/null' ? file === left : file.includes(left);
      if (!isThere) faults.push(`CONTRIBUTING.md: ${path} is not as it is shown there:\n${hunk}`);
    }
  }
}

/** Rows of docs/reference/releases.md: `| 1.2.3 | 2026-01-31 | 40 hex digits |`; the commit is checked if the history is available. */
function checkReleases(text: string): void {
  for (const row of text.split('\n').filter((line) => /^\| (?!version|-)/.test(line))) {
    const [, version = '', commit = ''] =
      /^\| (\d+\.\d+\.\d+) \| \d{4}-\d\d-\d\d \| `([0-9a-f]{40})` \|$/.exec(row) ?? [];
    if (version === '') faults.push(`docs/reference/releases.md: "${row}" is no row of a version, a day and a commit`);
    else if (existsSync('.git') && versionAt(commit) !== version) {
      faults.push(`docs/reference/releases.md: the commit ${commit} is not here, or is not that of ${version}`);
    }
  }
}

/** SECURITY.md must name the newest minor version as the supported one. */
function checkSupported(security: string, releases: string): void {
  const newest = [...releases.matchAll(/^\| (\d+\.\d+)\.\d+ \|/gm)].at(-1)?.[1];
  if (!security.includes(`\n| ${newest} | yes |\n`)) faults.push(`SECURITY.md does not say that ${newest} is fixed`);
}

function versionAt(commit: string): string | undefined {
  try {
    const manifest = execFileSync('git', ['show', `${commit}:package.json`], { encoding: 'utf8', stdio: 'pipe' });
    return /"version": "([^"]+)"/.exec(manifest)?.[1];
  } catch {
    return undefined;
  }
}
