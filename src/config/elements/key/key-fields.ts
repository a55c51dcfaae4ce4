/** What operators note about a key, as they write it on the command line and over the admin API. */

import type { FieldFault } from '../../../core/field-fault.ts';
import { createFaultList, toFieldFaults } from '../../read/faults.ts';
import { judge } from '../judge.ts';
import { keySchema } from '../schema.ts';

const notesSchema = keySchema.pick({ metadata: true, capture: true });

export type ParsedKeyNotes =
  | {
      readonly metadata: Readonly<Record<string, string>>;
      readonly captureMs: number | undefined;
      readonly faults?: undefined;
    }
  | { readonly faults: readonly FieldFault[] };

/** With the words that the file's own faults have. */
export function parseKeyNotes(written: { readonly metadata?: unknown; readonly capture?: unknown }): ParsedKeyNotes {
  const faults = createFaultList(() => undefined);
  const notes = judge(notesSchema, written, [], { faults, isSubstituted: () => false });
  const found = toFieldFaults(faults);
  if (notes !== undefined && found.length === 0) return { metadata: notes.metadata, captureMs: notes.capture };
  return { faults: found };
}
