/** Generates the tables of docs/explanations/architecture.md: the steps of a request, and the modules. */

import { firstFileOf, type Module, modules } from './modules.ts';
import { type PathStep, requestPath } from './request-path.ts';

export function renderArchitecture(): string {
  const steps = requestPath.map(toStep);
  return [
    `## A request in ${requestPath.length} steps`,
    '',
    '| step | what happens | file | functions | direct path |',
    '|---|---|---|---|---|',
    ...steps,
    '',
    'The last column of the table lists the methods of [src/direct/path.ts](../../src/direct/path.ts) that implement each step.',
    '',
    '## Modules',
    '',
    '| module | contains | read first |',
    '|---|---|---|',
    ...modules.map(toRow),
  ].join('\n');
}

export function pathOf({ module, file }: PathStep): string {
  const owner = modules.find(({ name }) => name === module);
  if (owner === undefined) throw new Error(`there is no module ${module}`);
  return `${owner.path}/${file}`;
}

function toStep(step: PathStep, index: number): string {
  const path = pathOf(step);
  return `| ${index + 1} | ${step.does} | [${path}](../../${path}) | ${asCode(step.functions)} | ${asCode(step.direct)} |`;
}

function toRow(module: Module): string {
  const first = firstFileOf(module);
  return `| \`${module.path}\` | ${module.owns} | [${first.split('/').at(-1)}](../../${first}) |`;
}

const asCode = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');
