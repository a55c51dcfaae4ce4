/** An element of `keys`, key by key. */

import type * as z from 'zod';
import { fromEnvironment, is, mapping, ownId, text } from '../fields.ts';
import { keyTermFields } from './terms.ts';

export const keySchema = mapping({
  id: ownId().meta(is('The name of the key, for lists and logs.')),
  secret: text('at least 24 visible ASCII characters, without spaces', /^[\x21-\x7e]{24,512}$/).meta(
    is(`What the client sends. ${fromEnvironment}`, { secret: true }),
  ),
  ...keyTermFields,
});

export type KeyEntry = z.output<typeof keySchema>;
