/** `npm run generate`: writes all generated files. With `--check` it fails if they differ. */

import { readFileSync, writeFileSync } from 'node:fs';
import { endpoints } from '../src/admin/endpoints.ts';
import { modelFields, modelHeaders } from '../src/core/model-fields.ts';
import { families } from '../src/families/index.ts';
import { codeOf } from '../src/lib/thrown.ts';
import { renderEndpoints } from './admin-table.ts';
import { renderReference, toJsonSchema } from './configuration-reference.ts';
import { renderFamilies } from './families-table.ts';
import { renderKeyOptions } from './key-options-table.ts';
import { findModuleImports, readSources } from './modules/imports.ts';
import { drawMap } from './modules/map.ts';
import { renderArchitecture } from './modules/table.ts';
import { renderPrices } from './prices-table.ts';

const begin = '<!-- generated -->';
const end = '<!-- /generated -->';

const files: readonly (readonly [path: string, generate: (present: string) => string])[] = [
  ['postern.schema.json', () => `${JSON.stringify(toJsonSchema(families), null, 2)}\n`],
  ['docs/reference/configuration.md', (present) => withSection(present, renderReference(families))],
  ['docs/reference/command-line.md', (present) => withSection(present, renderKeyOptions())],
  ['docs/reference/prices.md', (present) => withSection(present, renderPrices())],
  ['docs/reference/admin-api.md', (present) => withSection(present, renderEndpoints(endpoints))],
  ['docs/explanations/architecture.md', (present) => withSection(present, renderArchitecture())],
  ['docs/images/modules.svg', () => drawMap(findModuleImports(readSources()))],
  ['docs/reference/routes.md', (present) => withSection(present, renderModelFields())],
  ['docs/reference/families.md', (present) => withSection(present, renderFamilies(families))],
];

const checkOnly = process.argv.includes('--check');
for (const [path, generate] of files) {
  const present = read(path);
  const wanted = generate(present);
  if (present === wanted) continue;
  if (checkOnly) {
    console.error(`${path} differs from what the code generates; run npm run generate`);
    process.exitCode = 1;
  } else {
    writeFileSync(path, wanted);
    console.log(`${path} written`);
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
}

function renderModelFields(): string {
  const rows = modelFields.map(({ name, isContainer, isBeside, readBy }) => {
    const where = isContainer ? `inside \`${name}\`` : `\`${name}\``;
    return `| ${where} | ${isBeside ? 'any' : 'the same'} | ${readBy} |`;
  });
  const headers = modelHeaders.map(({ name, readBy }) => `| header \`${name}\` | never forwarded | ${readBy} |`);
  return ['| field | operation of the model | read by |', '|---|---|---|', ...rows, ...headers].join('\n');
}

/** Replaces the part of the text between the marks. */
function withSection(text: string, section: string): string {
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from === -1 || to < from) throw new Error(`a page lacks its marks ${begin} and ${end}`);
  return `${text.slice(0, from + begin.length)}\n\n${section}\n\n${text.slice(to)}`;
}
