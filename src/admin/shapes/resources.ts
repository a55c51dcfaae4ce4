/** What is said of everything that is configured: who manages it, where it stands, and in which version. */

import * as z from 'zod';
import { managers } from '../../core/resource-desk.ts';
import { instant } from './common.ts';

export const place = z.object({
  file: z.string(),
  line: z.number().int(),
});

/** Beside whatever else is known of an upstream, a model or a project. */
export const managed = {
  managedBy: z.enum(managers).meta({
    description:
      'The configuration file, the store (edited here), the configuration that holds where there is no file, or the family of an upstream that brings it along.',
  }),
  place: place.nullable().meta({ description: 'Where the file declares it.' }),
  version: z.number().int().nullable().meta({ description: 'What to send as `If-Match`; null outside of the store.' }),
  updatedAt: instant.nullable(),
  inForce: z.boolean().meta({ description: 'False for a moment after a change, until this gateway goes by it.' }),
};

/** An element of the configuration file's list, in its own words. */
export const elementDocument = z.record(z.string(), z.unknown()).meta({
  description: 'As an element of the list in the configuration file. Secrets say `(sealed)`; sent back, they stay.',
});

export const written = z.object({
  outcome: z.enum(['created', 'changed', 'unchanged']),
  version: z.number().int(),
  warnings: z.array(z.string()).meta({ description: 'Legal, and perhaps not meant.' }),
});
