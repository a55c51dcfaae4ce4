/** Passkeys as members see them, and what browsers and devices say of them. */

import * as z from 'zod';
import { instant } from '../../shapes/common.ts';

export const passkey = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: instant,
  lastUsedAt: instant.nullable(),
});

export const passkeyName = z
  .string()
  .trim()
  .min(1, { error: 'Give it a name by which you know the device, such as "Laptop".' })
  .max(60, { error: 'The name may have 60 characters at most.' });

/** As the browser's own API has it, in JSON. */
export const browserJson = z.record(z.string(), z.unknown());
