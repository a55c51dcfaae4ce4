/** Looks up the schema that applies to a path in the configuration. */

import * as z from 'zod';
import type { Path } from '../read/faults.ts';

type Schema = z.core.$ZodType;

/** The inner schema of a schema that is optional or has a default. */
export function bare(schema: Schema): Schema {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return bare(schema.def.innerType);
  }
  if (schema instanceof z.ZodPipe) return bare(schema.def.in);
  return schema;
}

function childOf(schema: Schema, step: string | number): Schema | undefined {
  const inner = bare(schema);
  if (inner instanceof z.ZodObject) {
    return typeof step === 'string' && Object.hasOwn(inner.def.shape, step) ? inner.def.shape[step] : undefined;
  }
  if (inner instanceof z.ZodArray) return inner.def.element;
  if (inner instanceof z.ZodRecord) return inner.def.valueType;
  if (!(inner instanceof z.ZodUnion)) return undefined;
  const children = inner.def.options.values().map((option) => childOf(option, step));
  return children.find((child) => child !== undefined);
}

export const eachElement = '[]';

/** All settings of a schema with their paths, each before those inside it. */
export function* settingsIn(
  schema: Schema,
  path: readonly string[] = [],
): Generator<{ readonly path: readonly string[]; readonly schema: Schema }> {
  yield { path, schema };
  const inner = bare(schema);
  if (inner instanceof z.ZodArray) yield* settingsIn(inner.def.element, [...path, eachElement]);
  if (!(inner instanceof z.ZodObject)) return;
  for (const [key, child] of Object.entries<Schema>(inner.def.shape)) yield* settingsIn(child, [...path, key]);
}

export function schemaAt(root: Schema, path: Path): Schema | undefined {
  return path.reduce<Schema | undefined>((schema, step) => schema && childOf(schema, step), root);
}

/** Whether the value at a path is secret, so that messages must not repeat it. */
export function isSecretAt(root: Schema, path: Path): boolean {
  const schema = schemaAt(root, path);
  return schema !== undefined && isSecret(schema);
}

export function isSecret(schema: Schema): boolean {
  const inner = bare(schema);
  return [schema, inner].some((one) => one instanceof z.ZodType && one.meta()?.secret === true);
}

export function keysAt(root: Schema, path: Path): string[] {
  const schema = schemaAt(root, path);
  return schema === undefined ? [] : keysOf(schema);
}

function keysOf(schema: Schema): string[] {
  const inner = bare(schema);
  if (inner instanceof z.ZodUnion) return inner.def.options.flatMap(keysOf);
  return inner instanceof z.ZodObject ? Object.keys(inner.def.shape) : [];
}

/** Whether the value at a path may be a scalar, and not only a list or a mapping. */
export function wantsScalar(root: Schema, path: Path): boolean {
  const schema = schemaAt(root, path);
  const inner = schema && bare(schema);
  return inner !== undefined && ![z.ZodObject, z.ZodArray, z.ZodRecord].some((kind) => inner instanceof kind);
}
