/** An element of `projects`, key by key. */

import type * as z from 'zod';
import { capsFields } from '../caps.ts';
import { is, mapping, notes, ownId, text } from '../fields.ts';

export const projectSchema = mapping({
  id: ownId().meta(is('The name of the project, for keys, lists and logs.')),
  name: text('text without control characters, of 1 to 100 characters', /^[^\p{Cc}\p{Cs}]{1,100}$/u)
    .optional()
    .meta(is('What people call it.')),
  files: ownId()
    .optional()
    .meta(is('The upstream that keeps the files of its keys, of a family that does. Without one, its keys have none.')),
  metadata: notes,
  ...capsFields,
});

export type ProjectEntry = z.output<typeof projectSchema>;
