/** An element of `keys`, key by key. */

import type * as z from 'zod';
import { fromEnvironment, is, mapping, ownId, secretFile, text } from '../fields.ts';
import { keyTermFields } from './terms.ts';

export const keySchema = mapping({
  id: ownId().meta(is('The name of the key, for lists and logs.')),
  secret: text('at least 24 visible ASCII characters, without spaces', /^[\x21-\x7e]{24,512}$/)
    .optional()
    .meta(is(`What the client sends. ${fromEnvironment}`, { secret: true })),
  secret_file: secretFile('secret'),
  secret_sha256: text('64 hexadecimal digits, as sha256sum prints them', /^[0-9a-fA-F]{64}$/)
    .optional()
    .meta(is('The SHA-256 of the secret, in hexadecimal, where the secret itself is to stand nowhere.')),
  ...keyTermFields,
}).refine(({ secret, secret_sha256: digest }) => secret !== undefined || digest !== undefined, {
  path: ['secret'],
  error: 'secret, secret_file or secret_sha256',
});

export type KeyEntry = z.output<typeof keySchema>;
