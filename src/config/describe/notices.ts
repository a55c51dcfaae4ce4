/** Says of every setting that is accepted but not in force that it has no effect. */

import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { ConfigurationDocument, Entry } from '../elements/document.ts';
import { keySchema } from '../elements/key/schema.ts';
import { modelSchema } from '../elements/model/schema.ts';
import { projectSchema } from '../elements/project/schema.ts';
import { settingsSchema } from '../elements/schema.ts';
import { bare } from '../elements/schema-lookup.ts';
import { upstreamSchema } from '../elements/upstream/schema.ts';
import { type Path, toPathText } from '../read/faults.ts';

/** Every `yield` is a place to stop at. */
export function* noticesOf({
  settings,
  upstreams,
  models,
  projects,
  keys,
}: ConfigurationDocument): Generator<undefined, string[], undefined> {
  const parts: [schema: z.ZodType, entries: readonly Entry<unknown>[]][] = [
    [settingsSchema, [{ path: [], value: settings }]],
    [upstreamSchema, upstreams],
    [modelSchema, models],
    [projectSchema, projects],
    [keySchema, keys],
  ];
  const idle: Path[] = [];
  for (const [schema, entries] of parts) {
    if (!mayBeIdle(schema)) continue;
    for (const { path, value } of entries) {
      yield;
      idle.push(...idlePaths(schema, value, path));
    }
  }
  return idle.map((path) => `${toPathText(path)} has no effect in this version`);
}

const known = new WeakMap<z.core.$ZodType, boolean>();

/** Whether anything in it is marked as not in force. */
function mayBeIdle(schema: z.core.$ZodType): boolean {
  let may = known.get(schema);
  if (may === undefined) {
    const inner = bare(schema);
    const children =
      inner instanceof z.ZodArray
        ? [inner.def.element]
        : inner instanceof z.ZodObject
          ? Object.values<z.core.$ZodType>(inner.def.shape)
          : [];
    may = children.some((child) => !isInForce(child) || mayBeIdle(child));
    known.set(schema, may);
  }
  return may;
}

function isInForce(schema: z.core.$ZodType): boolean {
  return !(schema instanceof z.ZodType) || schema.meta()?.inForce !== false;
}

/** Where something is set that the schema marks as not in force. To switch it off, or to spell its default, is no notice. */
function idlePaths(schema: z.core.$ZodType, value: unknown, path: Path): Path[] {
  const inner = bare(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.flatMap((item, index) => idlePaths(inner.def.element, item, [...path, index]));
  }
  if (!(inner instanceof z.ZodObject) || typeof value !== 'object' || value === null) return [];
  return Object.entries<z.core.$ZodType>(inner.def.shape).flatMap(([key, child]) => {
    const item: unknown = Reflect.get(value, key);
    if (item === undefined) return [];
    if (isInForce(child)) return mayBeIdle(child) ? idlePaths(child, item, [...path, key]) : [];
    return isOff(child, item) ? [] : [[...path, key]];
  });
}

function isOff(schema: z.core.$ZodType, value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === false ||
    isDeepStrictEqual(value, z.safeParse(schema, undefined).data)
  );
}
