/** The reference of configuration keys in docs/reference/configuration.md, written from the schema. */

import { type Family, isMadeHere, offersOf, standardOptions } from '../../core/family.ts';
import { describeConfiguration, notesOf, type SchemaNode } from './json-schema.ts';

/** A table for each section of the file, as Markdown. */
export function renderReference(families: readonly Family[]): string {
  const { properties = {} } = describeConfiguration();
  const sections = Object.entries(properties).map(([key, node]) => {
    const rows = [toRow(key, node, false), ...rowsInside(key, node)];
    return [`### ${key}`, '', '| key | value | default | meaning |', '|---|---|---|---|', ...rows].join('\n');
  });
  return [...sections, renderFamilies(families)].join('\n\n');
}

function rowsInside(path: string, node: SchemaNode): string[] {
  const inList = node.items?.properties;
  const prefix = inList === undefined ? path : `${path}[]`;
  const mapping = inList === undefined ? (node.anyOf?.find(({ properties }) => properties) ?? node) : node.items;
  return Object.entries(mapping?.properties ?? {}).flatMap(([key, child]) => {
    const childPath = `${prefix}.${key}`;
    return [toRow(childPath, child, mapping?.required?.includes(key) === true), ...rowsInside(childPath, child)];
  });
}

function toRow(path: string, node: SchemaNode, required: boolean): string {
  const meaning = [node.description, ...notesOf(node).map((note) => `**${note}**`)].join(' ');
  return `| \`${path}\` | ${toKind(node)} | ${required ? 'required' : toDefault(node)} | ${meaning} |`;
}

function toKind({ kind, type, enum: names, items }: SchemaNode): string {
  if (kind !== undefined) return kind;
  if (names !== undefined) return names.map((name) => `\`${name}\``).join(' or ');
  if (type === 'integer') return 'whole number';
  if (type === 'boolean') return '`true` or `false`';
  if (type === 'array') return items?.properties === undefined ? 'list' : 'list of mappings';
  return type === 'object' ? 'mapping' : 'text';
}

function toDefault({ default: standard, defaultText }: SchemaNode): string {
  if (defaultText !== undefined) return defaultText;
  if (standard === undefined || standard === '' || isEmpty(standard)) return 'none';
  return `\`${typeof standard === 'string' ? standard : JSON.stringify(standard)}\``;
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function renderFamilies(families: readonly Family[]): string {
  const rows = families.map((family) => {
    const { id, title, baseUrl } = family;
    const offers = offersOf(family, standardOptions(family));
    const operations = Object.keys(offers.openai ?? {}).join(', ');
    const legacy = offers.engines === undefined ? 'no' : 'yes';
    const address = baseUrl === undefined ? (isMadeHere(offers) ? 'none' : 'required') : `\`${baseUrl}\``;
    return `| \`${id}\` | ${title} | ${address} | ${operations} | ${legacy} |`;
  });
  return [
    '### Families',
    '',
    '| family | what it is | `base_url` | offers | `legacy_engines: native` |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}
