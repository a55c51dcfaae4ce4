/** Implements the endpoints for gateway settings that the console can change (budget webhooks, retention, and withheld fields). */

import type * as z from 'zod';
import type { Snapshot } from '../../../core/snapshot.ts';
import type { AdminContext } from '../../context.ts';
import { implement, Reply } from '../../implement.ts';
import { removeResource, toTag, writeResource } from '../../resource-write.ts';
import { toShown } from '../../shapes/common.ts';
import * as contract from '../contract/settings.ts';
import { type setting, settingIds } from '../contract/settings.ts';

const dayMs = 86_400_000;

export const listSettings = implement(contract.listSettings, async ({ context }) => ({
  items: await Promise.all(settingIds.map((id) => toSetting(id, context))),
}));

export const putSetting = implement(contract.putSetting, async (call) => {
  const put = await writeResource('setting', call.params.id, call.body, call);
  return new Reply(put, { headers: { etag: toTag(put.version) } });
});

export const deleteSetting = implement(contract.deleteSetting, (call) =>
  removeResource('setting', call.params.id, call),
);

async function toSetting(id: (typeof settingIds)[number], context: AdminContext): Promise<z.input<typeof setting>> {
  const found = await context.resources.get('setting', id);
  const { managedBy = 'store', place, version = 0, updatedAtMs, document: written } = found ?? {};
  const { id: _, ...document } = written ?? {};
  const effective = effectOf(id, context.configuration.snapshot());
  return { ...toShown({ managedBy, place, updatedAtMs }), id, version, document, effective };
}

function effectOf(id: (typeof settingIds)[number], { alerts, ledger }: Snapshot): z.input<typeof setting>['effective'] {
  return id === 'alerts'
    ? { webhooks: alerts.webhooks.length, retentionDays: null, redact: null }
    : { webhooks: null, retentionDays: ledger.retentionMs / dayMs, redact: [...ledger.hiddenFields] };
}
