/** Says of every setting that is accepted but not in force that it has no effect. */

import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { ConfigurationDocument } from './document.ts';
import { type Path, toPathText } from './faults.ts';
import { modelSchema } from './model-schema.ts';
import { projectSchema } from './project-schema.ts';
import { keySchema, settingsSchema } from './schema.ts';
import { bare } from './schema-lookup.ts';
import { upstreamSchema } from './upstream-schema.ts';

export function noticesOf({ settings, upstreams, models, projects, keys }: ConfigurationDocument): string[] {
  const idle = [
    ...idlePaths(settingsSchema, settings, []),
    ...upstreams.flatMap(({ path, value }) => idlePaths(upstreamSchema, value, path)),
    ...models.flatMap(({ path, value }) => idlePaths(modelSchema, value, path)),
    ...projects.flatMap(({ path, value }) => idlePaths(projectSchema, value, path)),
    ...keys.flatMap(({ path, value }) => idlePaths(keySchema, value, path)),
  ];
  return idle.map((path) => `${toPathText(path)} has no effect in this version`);
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
    const inForce = !(child instanceof z.ZodType) || child.meta()?.inForce !== false;
    if (inForce) return idlePaths(child, item, [...path, key]);
    return isOff(child, item) ? [] : [[...path, key]];
  });
}

function isOff(schema: z.ZodType, value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === false ||
    isDeepStrictEqual(value, schema.safeParse(undefined).data)
  );
}
