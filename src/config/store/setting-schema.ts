/** Settings that the store may hold: parts of `alerts` and `ledger` that the file leaves open, and an imported price list. */

import type * as z from 'zod';
import { webhooksField } from '../elements/alerts.ts';
import { mapping, oneOf, text } from '../elements/fields.ts';
import { redactField, retentionField } from '../elements/ledger.ts';

/** Each is a section of the file, with the keys that the store may hold. Prices are no section: only the store has them. */
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
