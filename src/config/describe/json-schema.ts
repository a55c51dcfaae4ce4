/** The JSON Schema of the configuration file, for editors, and the plain facts that the reference is written from. */

import * as z from 'zod';
import type { Family } from '../../core/family.ts';
import { configurationSchema } from '../elements/schema.ts';

/** A node as `z.toJSONSchema` makes it, with the facts of `fields.ts` beside the standard words. */
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
  restart: z.object({ says: z.string() }).optional(),
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

/** What may be written, as opposed to what it becomes: times and sizes are text here. */
export function describeConfiguration(): SchemaNode {
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
  if (takesSubstitution(shape))
    return { ...words, anyOf: [...(shape.anyOf ?? [shape]), { $ref: '#/$defs/substitution' }] };
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

/** Whether another key names a file that holds its value. */
function mayBeInFile(key: string, { properties = {} }: SchemaNode): boolean {
  return Object.values(properties).some(({ holds }) => holds === key);
}

/** What is said of a key behind its description. */
export function notesOf({ restart }: Pick<SchemaNode, 'restart'>): string[] {
  return restart === undefined ? [] : [restart.says];
}

/** A single value of which not every text is one; plain text takes a reference as it is. */
function takesSubstitution(node: SchemaNode): boolean {
  const alternatives = node.anyOf ?? [node];
  return alternatives.every(({ type, pattern, enum: names }) => {
    if (type === 'string') return node.anyOf !== undefined || pattern !== undefined || names !== undefined;
    return type === 'integer' || type === 'number' || type === 'boolean';
  });
}
