/** The database of one-api and new-api: channels, and tokens, whose clients go on with the keys that they have. */

import { hash } from 'node:crypto';
import { fromChannels } from './channels.ts';
import type { Wanted } from './database.ts';
import type { Draft } from './draft.ts';
import type { Part } from './part.ts';
import { toId } from './terms.ts';

export const channelTables: Wanted = { needed: ['channels', 'tokens'], more: [] };

const isEnabled = 1;
const never = -1;
/** Clients send it in front of what the table has. */
const prefix = 'sk-';
/** As both have it where nobody changed it (QuotaPerUnit). */
const quotaOfDollar = 500_000;
const nanosOfDollar = 1_000_000_000;

const records = [
  'id',
  'user_id',
  'created_time',
  'accessed_time',
  'used_quota',
  'group',
  'cross_group_retry',
  'billing_type',
];

export function fromChannelTables(tables: Part, draft: Draft, types: Readonly<Record<number, string>>): void {
  for (const token of tables.parts('tokens')) addToken(token, draft);
  fromChannels(tables, draft, types);
}

function addToken(token: Part, draft: Draft): void {
  const name = token.text('name') ?? `token ${token.text('id') ?? ''}`;
  const secret = token.text('key');
  const expiredS = token.number('expired_time') ?? never;
  const isLimited = !token.flag('unlimited_quota');
  const quota = token.number('remain_quota') ?? 0;
  const listed = token.flag('model_limits_enabled');
  const models = [...(listed ? token.texts('model_limits') : []), ...token.texts('models')];
  const addresses = (token.text('allow_ips') ?? token.text('subnet') ?? '').split(/[\s,]+/).filter(Boolean);
  token.pass(...records, 'model_limits', 'subnet');
  const why = whyNot({ secret, expiredS, quota, isLimited, token });
  if (secret === undefined || why !== undefined) {
    token.note(`"${name}" ${why ?? 'has no key'}: left out`);
    return;
  }
  draft.keyByDigest(toId(name), hash('sha256', secret.startsWith(prefix) ? secret : prefix + secret), {
    models: models.length > 0 ? models : undefined,
    addresses: addresses.length > 0 ? addresses : undefined,
    expires: expiredS === never ? undefined : new Date(expiredS * 1000).toISOString(),
    budgets: isLimited
      ? [{ every: 'total', amount: Math.round((quota / quotaOfDollar) * nanosOfDollar) / nanosOfDollar }]
      : undefined,
  });
  token.rest();
}

interface Facts {
  readonly secret: string | undefined;
  readonly expiredS: number;
  readonly quota: number;
  readonly isLimited: boolean;
  readonly token: Part;
}

function whyNot({ expiredS, quota, isLimited, token }: Facts): string | undefined {
  if (token.has('deleted_at')) return 'is deleted';
  if ((token.number('status') ?? isEnabled) !== isEnabled) return 'is switched off';
  if (expiredS !== never && expiredS * 1000 <= Date.now()) return 'has expired';
  return isLimited && quota <= 0 ? 'has nothing left to spend' : undefined;
}
