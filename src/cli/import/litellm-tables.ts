/** Imports LiteLLM's database: models, teams and keys. Keys stay valid, because their digests are kept. */

import { Buffer } from 'node:buffer';
import { createDecipheriv, hash, hkdfSync } from 'node:crypto';
import { UserFault } from '../../core/user-fault.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { openSecretBox } from '../../lib/secrets/secret-box.ts';
import type { Tables, Wanted } from './database.ts';
import type { Draft } from './draft.ts';
import { addEntry, keepVariables } from './litellm.ts';
import { budgetOf, filled, type Part, type Terms, toId } from './part.ts';

const models = 'LiteLLM_ProxyModelTable';
const keys = 'LiteLLM_VerificationToken';
const teams = 'LiteLLM_TeamTable';
const budgets = 'LiteLLM_BudgetTable';

export const litellmTables: Wanted = { needed: [models, keys], more: [teams, budgets] };

/** Fields that only record facts of a row, and need not be imported. */
const records = [
  ...['created_at', 'created_by', 'updated_at', 'updated_by', 'last_active', 'spend', 'model_spend', 'metadata'],
  ...['budget_reset_at', 'key_name', 'user_id', 'rotation_count', 'last_rotation_at', 'key_rotation_at', 'soft_budget'],
  ...['admins', 'members', 'members_with_roles', 'team_member_permissions', 'organization_id', 'model_id'],
];
/** Words that mean all models in a list of models. */
const all = new Set(['all-proxy-models', '*']);
const ofTeam = 'all-team-models';
const nobodys = 'no-default-models';

/** The tables with encrypted fields decrypted by LiteLLM's salt key; credentials are replaced later, as those in a file are. */
export function openLitellmTables(tables: Tables, env: Readonly<Record<string, string | undefined>>): Tables {
  const salt = env.LITELLM_SALT_KEY ?? env.LITELLM_MASTER_KEY;
  const opened = (tables[models] ?? []).map((row) => {
    const params = isMapping(row.litellm_params) ? row.litellm_params : parsed(row.litellm_params);
    const plain = Object.entries(params).map(([name, value]) => [
      name,
      typeof value === 'string' ? openText(value, name, salt) : value,
    ]);
    return { ...row, litellm_params: Object.fromEntries(plain) };
  });
  return { ...tables, [models]: opened };
}

function parsed(value: unknown): Readonly<Record<string, unknown>> {
  const read: unknown = typeof value === 'string' ? JSON.parse(value) : undefined;
  return isMapping(read) ? read : {};
}

const howToOpen =
  'set LITELLM_SALT_KEY as in LiteLLM (or LITELLM_MASTER_KEY, if it has none), or import the response of GET /model/info';

function openText(text: string, name: string, salt: string | undefined): string {
  if (salt === undefined || !isClosed(text)) return text;
  const opened = openWith(salt, text);
  // A credential may look encrypted, and is replaced by a variable.
  if (opened === undefined && name === 'model')
    throw new UserFault('its models are encrypted with another key than LITELLM_SALT_KEY or LITELLM_MASTER_KEY');
  return opened ?? text;
}

export function fromLitellmTables(tables: Part, draft: Draft): void {
  keepVariables(tables.parts(models), draft);
  for (const entry of tables.parts(models)) {
    entry.pass(...records);
    const written = entry.part('litellm_params').text('model') ?? '';
    if (entry.flag('blocked')) entry.note('is blocked: left out');
    else if (isClosed(written)) entry.note(`"${entry.text('model_name')}" is encrypted: ${howToOpen}; left out`);
    else addEntry(entry, draft);
  }
  const shared = new Map(tables.parts(budgets).map((part) => [part.text('budget_id') ?? '', part]));
  const known = new Map<string, Team>();
  for (const team of tables.parts(teams)) addTeam(team, known, draft);
  for (const key of tables.parts(keys)) addKey(key, { shared, known }, draft);
}

interface Team {
  readonly project: string;
  readonly models: readonly string[] | undefined;
  readonly isBlocked: boolean;
}

function addTeam(team: Part, known: Map<string, Team>, draft: Draft): void {
  const id = team.text('team_id') ?? '';
  const name = team.text('team_alias');
  const project = draft.project(toId(name ?? id), { name, ...capsOf(team) });
  known.set(id, { project, models: modelsOf(team, undefined), isBlocked: team.flag('blocked') });
  team.pass(...records);
  team.rest();
}

interface Others {
  readonly shared: ReadonlyMap<string, Part>;
  readonly known: ReadonlyMap<string, Team>;
}

function addKey(key: Part, { shared, known }: Others, draft: Draft): void {
  const token = key.text('token') ?? '';
  const digest = /^[0-9a-f]{64}$/.test(token) ? token : hash('sha256', token);
  const id = key.text('key_alias') ?? `key-${digest.slice(0, 8)}`;
  const team = known.get(key.text('team_id') ?? '');
  const expires = key.text('expires');
  key.pass(...records, 'token', 'project_id', 'agent_id');
  if (key.flag('blocked') || team?.isBlocked === true) {
    key.note(`"${id}" is blocked: left out`);
    return;
  }
  if (expires !== undefined && Date.parse(expires) <= Date.now()) {
    key.note(`"${id}" has expired: left out`);
    return;
  }
  const named = modelsOf(key, team?.models);
  if (named?.length === 0) {
    key.note(`"${id}" may use no model: left out`);
    return;
  }
  const caps = capsOf(key, shared.get(key.text('budget_id') ?? ''));
  draft.keyByDigest(toId(id), digest, {
    models: named,
    expires,
    project: team?.project,
    ...caps,
  });
  key.rest();
}

/** The models that a key may use; undefined for all models. */
function modelsOf(part: Part, team: readonly string[] | undefined): readonly string[] | undefined {
  const written = part.texts('models');
  if (written.length === 0 || written.includes(ofTeam)) return team;
  if (written.some((name) => all.has(name))) return undefined;
  return written.filter((name) => name !== nobodys);
}

/** The limits and budgets of a key or team: its own, completed by those of the budget it shares. */
function capsOf(part: Part, shared?: Part): Pick<Terms, 'limits' | 'budgets'> {
  const most = (name: string): number | undefined => part.number(name) ?? shared?.number(name);
  const limits = filled({
    requests_per_minute: most('rpm_limit'),
    tokens_per_minute: most('tpm_limit'),
    concurrency: most('max_parallel_requests'),
  });
  const spender = part.has('max_budget') ? part : shared;
  const budget = spender && budgetOf(spender, 'max_budget', 'budget_duration');
  return { ...(limits && { limits }), ...(budget && { budgets: [budget] }) };
}

const nonceBytes = 12;
const proofBytes = 16;
const expansion = 'litellm-at-rest-v3';
const versioned = /^v\d+:gcm:/;
/** An encrypted text, which begins with at least 40 bytes of a secretbox, in either alphabet of base64. */
const secretBox = /^(?:[\w-]{54,}|[A-Za-z0-9+/]{54,})={0,2}$/;

const isClosed = (text: string): boolean => versioned.test(text) || (text.length % 4 === 0 && secretBox.test(text));

/** Decrypts a text; undefined where the salt key is another one. */
function openWith(salt: string, closed: string): string | undefined {
  const [, version, text = closed] = /^(v\d+):gcm:(.*)$/s.exec(closed) ?? [];
  const bytes = Buffer.from(text, 'base64url');
  const plainKey = hash('sha256', salt, 'buffer');
  if (version === undefined) return openSecretBox(bytes, plainKey)?.toString();
  const key = version === 'v2' ? plainKey : Buffer.from(hkdfSync('sha256', salt, '', expansion, plainKey.length));
  return openGcm(bytes, key);
}

function openGcm(bytes: Buffer, key: Buffer): string | undefined {
  if (bytes.length < nonceBytes + proofBytes) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes));
  decipher.setAuthTag(bytes.subarray(-proofBytes));
  const opened = decipher.update(bytes.subarray(nonceBytes, -proofBytes));
  try {
    return Buffer.concat([opened, decipher.final()]).toString();
  } catch {
    return undefined; // another key, or damaged
  }
}
