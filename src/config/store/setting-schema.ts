/** Settings that the console may change where the file leaves them open: what the store holds of `alerts` and `ledger`. */

import type * as z from 'zod';
import { webhooksField } from '../elements/alerts.ts';
import { mapping, oneOf } from '../elements/fields.ts';
import { redactField, retentionField } from '../elements/ledger.ts';

/** Each is a section of the file, with those of its keys that the store may hold. */
export const settingSections = { alerts: ['webhooks'], ledger: ['retention', 'redact'] } as const;

export type SettingId = keyof typeof settingSections;
export const settingIds = ['alerts', 'ledger'] as const satisfies readonly SettingId[];

export const settingSchema = mapping({
  id: oneOf(settingIds),
  webhooks: webhooksField().optional(),
  retention: retentionField().optional(),
  redact: redactField().optional(),
});

export type SettingEntry = z.output<typeof settingSchema>;
