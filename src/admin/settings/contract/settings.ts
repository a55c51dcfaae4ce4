/** Declares the endpoints for gateway settings that the console may change if the file does not set them. */

import * as z from 'zod';
import { managers } from '../../../core/resource-editor.ts';
import { endpointsOf } from '../../endpoint.ts';
import { instant } from '../../shapes/common.ts';

const settingsEndpoint = endpointsOf('Settings');

export const settingIds = ['alerts', 'ledger'] as const;

const settingParam = z.object({ id: z.enum(settingIds) });

/** A setting as in the configuration file, whose schema validates it. */
const settingDocument = z.record(z.string(), z.unknown());

export const setting = z.object({
  id: z.enum(settingIds),
  managedBy: z.enum(managers),
  place: z.object({ file: z.string(), line: z.int() }).nullable(),
  /** The version of the setting; 0 until it is first changed through the API. */
  version: z.int(),
  updatedAt: instant.nullable(),
  document: settingDocument,
  effective: z.object({
    webhooks: z.int().nullable().describe('Number of webhooks for budget alerts.'),
    retentionDays: z.number().nullable(),
    redact: z.array(z.string()).nullable(),
  }),
});

export const listSettings = settingsEndpoint('GET /api/settings', 'viewer', {
  summary: 'List the settings that can be changed here, with their effective values',
  answer: z.object({ items: z.array(setting) }),
});

export const putSetting = settingsEndpoint('PUT /api/settings/:id', 'admin', {
  summary: 'Change a setting that is not in the file',
  params: settingParam,
  body: settingDocument,
  answer: z.object({ version: z.int(), warnings: z.array(z.string()) }),
});

export const deleteSetting = settingsEndpoint('DELETE /api/settings/:id', 'admin', {
  summary: 'Reset a setting to its default',
  params: settingParam,
});
