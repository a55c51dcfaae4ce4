/** Formats a key for people and scripts. */

import { describeKeyTerms } from '../../config/elements/key/terms.ts';
import { type KeyRecord, type KeyTermsDocument, keyStateOf } from '../../core/key.ts';
import type { StoredKey } from '../../core/store/keys.ts';
import { toPrintable } from '../output.ts';
import { toInstantText } from '../times.ts';

/** A key for scripts. */
export function describeKey(key: StoredKey, nowMs: number) {
  return {
    id: key.id,
    name: key.name,
    hint: key.hint,
    ...toExplicitTerms(key),
    created_at: toInstantText(key.createdAtMs),
    expires_at: toInstantOrNull(key.expiresAtMs),
    revoked_at: toInstantOrNull(key.revokedAtMs),
    old_secret_until: toInstantOrNull(isOver(key.oldSecretUntilMs, nowMs) ? undefined : key.oldSecretUntilMs),
    state: keyStateOf(key, nowMs),
  };
}

/** A key of the file for scripts; it has neither a name nor a creation date. */
export function describeFileKey(key: KeyRecord, nowMs: number) {
  return {
    id: key.id,
    managed_by: key.managedBy,
    ...toExplicitTerms(key),
    expires_at: toInstantOrNull(key.expiresAtMs),
    state: keyStateOf(key, nowMs),
  };
}

type Explicit<T> = { readonly [K in keyof T]-?: undefined extends T[K] ? Exclude<T[K], undefined> | null : T[K] };

/** The settings of a key for scripts: each one is present, and null where it is unset. */
export function toExplicitTerms(key: KeyRecord): Explicit<KeyTermsDocument> {
  const terms = Object.entries(describeKeyTerms(key)).map(([term, said]) => [term, said ?? null]);
  return Object.fromEntries(terms) as Explicit<KeyTermsDocument>;
}

type Described = ReturnType<typeof describeKey> | ReturnType<typeof describeFileKey>;

export const listHead = ['ID', 'NAME', 'HINT', 'PROJECT', 'MODELS', 'LIMITS', 'BUDGETS', 'CREATED', 'EXPIRES', 'STATE'];

export function toListRow(key: ReturnType<typeof describeKey>): string[] {
  const { id, name, hint, project, models, created_at: created, expires_at: expires } = key;
  const cells = [id, name || '-', hint, project ?? '-', inWords(models), limitsOf(key), budgetsOf(key)];
  return [...cells, created, expires ?? '-', toStateText(key)].map(toPrintable);
}

/** A key for people, one line for each fact. */
export function toLines(key: Described): [name: string, value: string][] {
  const lines: [string, string][] = [];
  const { limits: _, budgets: __, metadata, operations, addresses, ...others } = key;
  const special: Readonly<Record<string, string>> = {
    operations: operations === null ? 'all' : inWords(operations),
    addresses: addresses === null ? 'anywhere' : inWords(addresses),
    limits: limitsOf(key),
    budgets: budgetsOf(key),
    metadata: inWords(Object.entries(metadata).map(([name, value]) => `${name}=${value}`)),
  };
  const plain: Readonly<Record<string, unknown>> = others;
  for (const name of Object.keys(key)) {
    const value = plain[name];
    const words = special[name] ?? (Array.isArray(value) ? inWords(value) : String(value ?? '-') || '-');
    lines.push([name, toPrintable(words)]);
  }
  return lines;
}

const limitsOf = ({ limits }: Pick<Described, 'limits'>): string =>
  inWords(Object.entries(limits).map(([name, most]) => `${name}=${most}`));

/** The budgets of a key, in the form that `--budget` takes. */
const budgetsOf = ({ budgets }: Pick<Described, 'budgets'>): string =>
  inWords(
    budgets.map(({ every, amount, alerts }) => `${every}=${amount}${alerts.length > 0 ? `:${alerts.join(',')}` : ''}`),
  );

function toStateText({ state, old_secret_until: until }: ReturnType<typeof describeKey>): string {
  return until === null || state !== 'active' ? state : `${state}, former secret until ${until}`;
}

const isOver = (atMs: number | undefined, nowMs: number): boolean => atMs !== undefined && atMs <= nowMs;

const toInstantOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : toInstantText(ms));

const inWords = (items: readonly unknown[]): string => items.join(', ') || '-';
