/** Schemas of stored resources, the same as those of the file's list elements. */

import type * as z from 'zod';
import type { ResourceKind } from '../../core/store/resources.ts';
import { modelSchema } from '../elements/model/schema.ts';
import { projectSchema } from '../elements/project.ts';
import { upstreamSchema } from '../elements/upstream/schema.ts';
import { settingSchema } from './setting-schema.ts';

export const resourceSchemas: Readonly<Record<ResourceKind, z.ZodType>> = {
  upstream: upstreamSchema,
  model: modelSchema,
  project: projectSchema,
  setting: settingSchema,
};

/** The list of the file with such elements. */
export const resourceLists = {
  upstream: 'upstreams',
  model: 'models',
  project: 'projects',
  setting: 'settings',
} as const satisfies Record<ResourceKind, string>;
