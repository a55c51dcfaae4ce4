/** Which settings hold from the start of the process to its end: those whose schema says so. */

import * as z from 'zod';
import type { Snapshot } from '../../core/snapshot.ts';
import { isRestart, type Restart } from '../elements/fields.ts';
import { settingsSchema } from '../elements/schema.ts';
import { bare } from '../elements/schema-lookup.ts';

interface LastingSetting {
  readonly name: string;
  readonly read: Restart['read'];
}

const settings = lastingIn(settingsSchema, '');

function lastingIn(schema: z.core.$ZodType, name: string): LastingSetting[] {
  const inner = bare(schema);
  const restart = schema instanceof z.ZodType ? schema.meta()?.restart : undefined;
  const own = isRestart(restart) ? [{ name, read: restart.read }] : [];
  if (!(inner instanceof z.ZodObject)) return own;
  const children = Object.entries<z.core.$ZodType>(inner.def.shape);
  return [...own, ...children.flatMap(([key, child]) => lastingIn(child, name === '' ? key : `${name}.${key}`))];
}

/** The settings that differ and cannot change while Postern runs. */
export function needsRestart(running: Snapshot, next: Snapshot): string[] {
  return settings.flatMap(({ name, read }) => (read(running) === read(next) ? [] : [name]));
}
