/** What the console may change of the gateway's own settings: who is told of budgets, how long rows are kept, what is withheld. */

import type * as z from 'zod';
import type { Snapshot } from '../../../core/snapshot.ts';
import type { AdminContext } from '../../context.ts';
import { type AnyEndpoint, defineEndpoint, replyWith } from '../../endpoint.ts';
import { neededVersion, removeResource, toTag, writeResource } from '../../resource-write.ts';
import { toInstant } from '../../shapes/common.ts';
import {
  type setting,
  settingDocument,
  settingIds,
  settingList,
  settingParam,
  writtenSetting,
} from '../contract/settings.ts';

const tag = 'Settings';
const dayMs = 86_400_000;

const listSettings = defineEndpoint({
  method: 'GET',
  path: '/api/settings',
  summary: 'List the settings that can be changed here, and what holds',
  tag,
  needs: 'viewer',
  answer: settingList,
  run: async ({ context }) => ({ items: await Promise.all(settingIds.map((id) => toSetting(id, context))) }),
});

const putSetting = defineEndpoint({
  method: 'PUT',
  path: '/api/settings/:id',
  summary: 'Change a setting that the file leaves open',
  tag,
  needs: 'admin',
  params: settingParam,
  body: settingDocument,
  answer: writtenSetting,
  async run({ params: { id }, body, caller, context, headers }) {
    const { version, warnings } = await writeResource(
      'setting',
      id,
      body,
      { caller, context, headers },
      neededVersion(headers),
    );
    return replyWith({ version, warnings: [...warnings] }, { headers: { etag: toTag(version) } });
  },
});

const deleteSetting = defineEndpoint({
  method: 'DELETE',
  path: '/api/settings/:id',
  summary: 'Go back to what holds where nobody says anything',
  tag,
  needs: 'admin',
  params: settingParam,
  async run({ params: { id }, caller, context, headers }) {
    await removeResource('setting', id, { caller, context, headers });
    return undefined;
  },
});

export const settingEndpoints: readonly AnyEndpoint[] = [listSettings, putSetting, deleteSetting];

async function toSetting(id: (typeof settingIds)[number], context: AdminContext): Promise<z.input<typeof setting>> {
  const found = await context.desk.get('setting', id);
  const { id: _, ...document } = found?.document ?? {};
  return {
    id,
    managedBy: found?.managedBy ?? 'store',
    place: found?.place ?? null,
    version: found?.version ?? 0,
    updatedAt: found?.updatedAtMs === undefined ? null : toInstant(found.updatedAtMs),
    document,
    effective: effectOf(id, context.configuration.snapshot()),
  };
}

function effectOf(id: (typeof settingIds)[number], { alerts, ledger }: Snapshot): z.input<typeof setting>['effective'] {
  return id === 'alerts'
    ? { webhooks: alerts.webhooks.length, retentionDays: null, redact: null }
    : { webhooks: null, retentionDays: ledger.retentionMs / dayMs, redact: [...ledger.hiddenFields] };
}
