/** What each setting is called outside of the file: `server.port`, and `POSTERN_SERVER_PORT`. */

import * as z from 'zod';
import { configurationSchema } from '../elements/schema.ts';
import { bare, isSecret } from '../elements/schema-lookup.ts';

export interface OutsideName {
  readonly path: readonly string[];
  /** Such as `server.port`. */
  readonly dotted: string;
  /** Such as `POSTERN_SERVER_PORT`. */
  readonly variable: string;
  /** What stands there: a single value, a list of such, or what has more in it. */
  readonly shape: 'scalar' | 'list' | 'structure';
  /** Whether it is a secret, or may have one in it. */
  readonly mayHoldSecret: boolean;
}

/** All of them, and what they stand in before them. */
export const outsideNames: readonly OutsideName[] = namesIn(configurationSchema, []);

function namesIn(schema: z.core.$ZodType, path: readonly string[]): OutsideName[] {
  const inner = bare(schema);
  const own = path.length === 0 || path[0] === '$schema' ? [] : [toName(schema, inner, path)];
  if (!(inner instanceof z.ZodObject)) return own;
  const children = Object.entries<z.core.$ZodType>(inner.def.shape);
  return [...own, ...children.flatMap(([key, child]) => namesIn(child, [...path, key]))];
}

function toName(schema: z.core.$ZodType, inner: z.core.$ZodType, path: readonly string[]): OutsideName {
  return {
    path,
    dotted: path.join('.'),
    variable: `POSTERN_${path.join('_').toUpperCase()}`,
    shape: shapeOf(inner),
    mayHoldSecret: holdsSecret(schema, new Set()),
  };
}

function shapeOf(inner: z.core.$ZodType): OutsideName['shape'] {
  if (inner instanceof z.ZodArray) return shapeOf(bare(inner.def.element)) === 'scalar' ? 'list' : 'structure';
  return inner instanceof z.ZodObject || inner instanceof z.ZodRecord || inner instanceof z.ZodUnknown
    ? 'structure'
    : 'scalar';
}

function holdsSecret(schema: z.core.$ZodType, seen: Set<z.core.$ZodType>): boolean {
  if (isSecret(schema)) return true;
  const inner = bare(schema);
  if (seen.has(inner)) return false;
  seen.add(inner);
  const inside = (child: z.core.$ZodType): boolean => holdsSecret(child, seen);
  if (inner instanceof z.ZodObject) return Object.values<z.core.$ZodType>(inner.def.shape).some(inside);
  if (inner instanceof z.ZodArray) return inside(inner.def.element);
  if (inner instanceof z.ZodRecord) return inside(inner.def.valueType);
  return inner instanceof z.ZodUnion && inner.def.options.some(inside);
}
