/** Defines the schemas of stored resources: those of the file's list elements, and of the settings that the store can hold. */

import type * as z from 'zod';
import type { ResourceKind } from '../../core/store/resources.ts';
import { webhooksField } from '../elements/alerts.ts';
import { mapping, oneOf, text } from '../elements/fields.ts';
import { redactField, retentionField } from '../elements/ledger.ts';
import { modelSchema } from '../elements/model/schema.ts';
import { projectSchema } from '../elements/project.ts';
import { upstreamSchema } from '../elements/upstream/schema.ts';

/** The sections of the file that the store may hold, with the keys allowed there. `prices` is no section: only the store has it. */
export const settingSections = {
  alerts: ['webhooks'],
  ledger: ['retention', 'redact'],
  prices: ['as_of', 'source', 'csv'],
} as const;

export type SettingId = keyof typeof settingSections;
export const settingIds = ['alerts', 'ledger', 'prices'] as const satisfies readonly SettingId[];

export const settingSchema = mapping({
  id: oneOf(settingIds),
  webhooks: webhooksField().optional(),
  retention: retentionField().optional(),
  redact: redactField().optional(),
  as_of: text('a day such as 2026-11-25', /^\d{4}-\d{2}-\d{2}$/).optional(),
  source: text('the name of a file').optional(),
  csv: text('a price list as CSV', /^/).optional(),
});

export type SettingEntry = z.output<typeof settingSchema>;

export const resourceSchemas: Readonly<Record<ResourceKind, z.ZodType>> = {
  upstream: upstreamSchema,
  model: modelSchema,
  project: projectSchema,
  setting: settingSchema,
};

export const resourceLists = {
  upstream: 'upstreams',
  model: 'models',
  project: 'projects',
  setting: 'settings',
} as const satisfies Record<ResourceKind, string>;
