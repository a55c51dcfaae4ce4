/** Settings of the gateway that the console may change where the file leaves them open. */

import * as z from 'zod';
import { managers } from '../../../core/resource-desk.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { instant } from '../../shapes/common.ts';

export const settingIds = ['alerts', 'ledger'] as const;

const settingParam = z.object({ id: z.enum(settingIds) });

/** In the words of the configuration file; what is judged, and how, is the file's own schema. */
const settingDocument = z.record(z.string(), z.unknown());

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

const settingList = z.object({ items: z.array(setting) });

const writtenSetting = z.object({ version: z.int(), warnings: z.array(z.string()) });

export const listSettings = defineEndpoint({
  method: 'GET',
  path: '/api/settings',
  summary: 'List the settings that can be changed here, and what holds',
  tag: 'Settings',
  needs: 'viewer',
  answer: settingList,
});

export const putSetting = defineEndpoint({
  method: 'PUT',
  path: '/api/settings/:id',
  summary: 'Change a setting that the file leaves open',
  tag: 'Settings',
  needs: 'admin',
  params: settingParam,
  body: settingDocument,
  answer: writtenSetting,
});

export const deleteSetting = defineEndpoint({
  method: 'DELETE',
  path: '/api/settings/:id',
  summary: 'Go back to what holds where nobody says anything',
  tag: 'Settings',
  needs: 'admin',
  params: settingParam,
});
