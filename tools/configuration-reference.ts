/** Generates docs/reference/configuration.md from the schema. */

import * as z from 'zod';
import { configurationSchema } from '../src/config/elements/schema.ts';
import { type Family, isMadeHere, offersOf, standardOptions } from '../src/core/family.ts';

/** A table for each section of the file, as Markdown. */
export function renderReference(families: readonly Family[]): string {
  const { properties = {} } = describeConfiguration();
  const shown = new Map<string, string>();
  const sections = Object.entries(properties).map(([key, node]) => {
    const rows = [toRow(key, node, false), ...rowsInside(key, node, shown)];
    return [`### ${key}`, '', '| key | value | default | meaning |', '|---|---|---|---|', ...rows].join('\n');
  });
  return [...sections, renderFamilies(families)].join('\n\n');
}

/** The rows of a mapping. `shown`: mappings whose keys are listed already, with their paths; they are not repeated. */
function rowsInside(path: string, node: SchemaNode, shown: Map<string, string>): string[] {
  const inList = node.items?.properties;
  const prefix = inList === undefined ? path : `${path}[]`;
  const mapping = inList === undefined ? (node.anyOf?.find(({ properties }) => properties) ?? node) : node.items;
  const entries = Object.entries(mapping?.properties ?? {});
  if (entries.length === 0) return [];
  const keys = JSON.stringify(entries);
  const elsewhere = shown.get(keys);
  if (elsewhere !== undefined) return [`| \`${prefix}.*\` | | | As \`${elsewhere}.*\`. |`];
  shown.set(keys, prefix);
  const [[, first]] = entries as [(typeof entries)[number]];
  const areAlike = entries.length > 2 && entries.every(([, child]) => JSON.stringify(child) === JSON.stringify(first));
  if (areAlike) return [toRow(`${prefix}.<name>`, first, false)];
  return entries.flatMap(([key, child]) => {
    const childPath = `${prefix}.${key}`;
    return [toRow(childPath, child, mapping?.required?.includes(key) === true), ...rowsInside(childPath, child, shown)];
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

/** A node of `z.toJSONSchema`, with the facts of `fields.ts` beside the standard keywords. */
const schemaNode = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().optional(),
  default: z.unknown().optional(),
  pattern: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  kind: z.string().optional(),
  defaultText: z.string().optional(),
  holds: z.string().optional(),
  restart: z.object({ text: z.string() }).optional(),
  get anyOf() {
    return z.array(schemaNode).optional();
  },
  get items() {
    return schemaNode.optional();
  },
  get properties() {
    return z.record(z.string(), schemaNode).optional();
  },
  get additionalProperties() {
    return z.union([z.boolean(), schemaNode]).optional();
  },
});

export type SchemaNode = z.output<typeof schemaNode>;

/** The schema of the configuration as users write it: times and sizes are text. */
function describeConfiguration(): SchemaNode {
  return schemaNode.parse(z.toJSONSchema(configurationSchema, { io: 'input' }));
}

export function toJsonSchema(families: readonly Family[]): SchemaNode {
  const { $schema, ...root } = describeConfiguration();
  return {
    $schema,
    title: 'Postern configuration',
    ...toEditorNode(root, families),
    $defs: {
      substitution: {
        description: `A value from the environment: \${NAME} or \${NAME:-default}.`,
        type: 'string',
        pattern: '\\$\\{',
      },
    },
  };
}

function toEditorNode(node: SchemaNode, families: readonly Family[]): SchemaNode {
  const { description, default: standard, kind, defaultText: _, restart, secret: __, holds: ___, ...rest } = node;
  const words = {
    ...(description !== undefined && { description: [description, ...notesOf({ restart })].join(' ') }),
    ...(standard !== undefined && { default: standard }),
  };
  const shape = kind === 'family' ? { type: 'string', enum: families.map(({ id }) => id) } : rest;
  if (takesSubstitution(shape)) {
    const alternatives = shape.anyOf?.map(({ kind: _, ...child }) => child) ?? [shape];
    return { ...words, anyOf: [...alternatives, { $ref: '#/$defs/substitution' }] };
  }
  return {
    ...words,
    ...shape,
    ...(shape.anyOf && { anyOf: shape.anyOf.map((child) => toEditorNode(child, families)) }),
    ...(shape.items && { items: toEditorNode(shape.items, families) }),
    ...(shape.required && { required: shape.required.filter((key) => !mayBeInFile(key, shape)) }),
    ...(shape.properties && {
      properties: Object.fromEntries(
        Object.entries(shape.properties).map(([key, child]) => [key, toEditorNode(child, families)]),
      ),
    }),
    ...(typeof shape.additionalProperties === 'object' && {
      additionalProperties: toEditorNode(shape.additionalProperties, families),
    }),
  };
}

function mayBeInFile(key: string, { properties = {} }: SchemaNode): boolean {
  return Object.values(properties).some(({ holds }) => holds === key);
}

function notesOf({ restart }: Pick<SchemaNode, 'restart'>): string[] {
  return restart === undefined ? [] : [restart.text];
}

/** Whether a text in place of the value can be invalid, as for a number. Plain text takes a reference unchanged. */
function takesSubstitution(node: SchemaNode): boolean {
  const alternatives = node.anyOf ?? [node];
  return alternatives.every(({ type, pattern, enum: names }) => {
    if (type === 'string') return node.anyOf !== undefined || pattern !== undefined || names !== undefined;
    return type === 'integer' || type === 'number' || type === 'boolean';
  });
}
