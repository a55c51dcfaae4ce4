/** Settings of the gateway that the console may change where the file leaves them open. */

import * as z from 'zod';
import { managers } from '../../../core/resource-desk.ts';
import { instant } from '../../shapes/common.ts';

export const settingIds = ['alerts', 'ledger'] as const;

export const settingParam = z.object({ id: z.enum(settingIds) });

/** In the words of the configuration file; what is judged, and how, is the file's own schema. */
export const settingDocument = z.record(z.string(), z.unknown());

export const setting = z.object({
  id: z.enum(settingIds),
  managedBy: z.enum(managers),
  place: z.object({ file: z.string(), line: z.int() }).nullable(),
  /** 0 until somebody changed it here. */
  version: z.int(),
  updatedAt: instant.nullable(),
  document: settingDocument,
  /** What holds, wherever it comes from. */
  effective: z.object({
    webhooks: z.int().nullable().meta({ description: 'How many webhooks are told of budgets.' }),
    retentionDays: z.number().nullable(),
    redact: z.array(z.string()).nullable(),
  }),
});

export const settingList = z.object({ items: z.array(setting) });

export const writtenSetting = z.object({ version: z.int(), warnings: z.array(z.string()) });
