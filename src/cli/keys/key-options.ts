/** Converts the options of `postern keys` to settings as in the file, and validates them. */

import { parseKeyChange, parseNewKeyTerms, parseOverlap } from '../../config/elements/key/judge.ts';
import { describeKeyTerms, type KeyTermName, keyOptions } from '../../config/elements/key/terms.ts';
import { unknownProject } from '../../config/elements/key/warnings.ts';
import { budgetPeriods, limitNames } from '../../core/caps.ts';
import type { FieldFault } from '../../core/field-fault.ts';
import type { KeyTermsDocument } from '../../core/key.ts';
import type { NewKeyTerms } from '../../core/key-judge.ts';
import type { Snapshot } from '../../core/snapshot.ts';
import type { KeyChange, StoredKey } from '../../core/store/keys.ts';
import type { Resource } from '../../core/store/resources.ts';
import { UserFault } from '../../core/user-fault.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { nearHint } from '../../lib/nearest-name.ts';
import type { CommandContext } from '../command.ts';

type Values = CommandContext['values'];
type Document = Record<string, unknown>;

const terms = Object.entries(keyOptions);
const needed: readonly string[] = ['models'] satisfies KeyTermName[];
const singleTerms = terms.filter(([, { takes }]) => takes !== 'pairs');
const takeable = terms.filter(([term]) => !needed.includes(term));

/** The options that remove a setting, such as `--no-limits`. */
export const takingOptions: readonly string[] = takeable.map(([term]) => `no-${term}`);

export const takingUsage = takingOptions.map((option) => `[--${option}]`).join(' ');

export const termsUsage = ['[--name N]', ...terms.map(([, one]) => usageOf(one))].join(' ');

function usageOf({ option, example, takes }: (typeof keyOptions)[KeyTermName]): string {
  return `[--${option} ${example}]${takes === 'pairs' ? '..' : ''}`;
}

export function readNewKey(values: Values, nowMs: number): NewKeyTerms {
  const document = toDocument(values, undefined);
  const parsed = parseNewKeyTerms(document, { nowMs }, { mayBeNameless: true });
  if (parsed.faults === undefined) return parsed.terms;
  throw toUserFault(parsed.faults, document);
}

/** The settings to change, by the given options only; an empty value or `--no-...` removes one. */
export function readKeyChange(values: Values, key: StoredKey, nowMs: number): KeyChange {
  const document = toDocument(values, key);
  const parsed = parseKeyChange(document, key, { nowMs });
  if (parsed.faults !== undefined) throw toUserFault(parsed.faults, document);
  if (Object.keys(parsed.terms).length > 0) return parsed.terms;
  throw new UserFault('say what to change, such as --expires 30d or --limit requests_per_minute=60');
}

/** The given options as a document in the file's form; null removes a setting. */
function toDocument(values: Values, key: StoredKey | undefined): Document {
  const document: Document = {};
  const name = textOf(values.name);
  if (name !== undefined && (name !== '' || key !== undefined)) document.name = name;
  for (const [term, { option, takes }] of singleTerms) {
    const text = textOf(values[option]);
    const isTaken = key !== undefined && text === '' && !needed.includes(term);
    if (isTaken || values[`no-${term}`] === true) document[term] = null;
    else if (text !== undefined && takes === 'list') document[term] = toList(option, text);
    // An empty expiry, as from an unset variable, must not make a key without one.
    else if (text !== undefined && (text !== '' || term === 'expires')) document[term] = text;
  }
  const before = key && describeKeyTerms(key);
  for (const [term, withPairs] of Object.entries(pairedTerms)) {
    const drops = values[`no-${term}`] === true;
    const { option } = optionOf(term);
    const pairs = readPairs(option, values[option]);
    if (pairs.size > 0 || drops) document[term] = withPairs(pairs, before, drops);
  }
  return document;
}

const textOf = (value: Values[string]): string | undefined => (typeof value === 'string' ? value.trim() : undefined);

/** The items of a list option. An empty one is refused, because an empty list would mean something else. */
function toList(option: string, text: string): string[] {
  const items = text.split(',').map((item) => item.trim());
  const found = items.filter((item) => item !== '');
  if (found.length === 0) throw new UserFault(`--${option} is empty; leave it out, or name at least one`);
  return found;
}

/** The first fault as a message, with the option and the name as the operator wrote them. */
function toUserFault([fault]: readonly FieldFault[], { budgets }: Document): UserFault {
  const { path = '', message = 'cannot be read' } = fault ?? {};
  const [, term = '', rest = ''] = /^(\w+)(.*)$/.exec(path) ?? [];
  const { option, takes } = optionOf(term);
  if (takes !== 'pairs') return new UserFault(`--${option}: ${message}`);
  const [, index, inside = ''] = /^\[(\d+)\](.*)$/.exec(rest) ?? [];
  if (index === undefined) return new UserFault(`--${option} ${rest.replace(/^\.|^\["|"\]$/g, '')}: ${message}`);
  const budget: unknown = Array.isArray(budgets) ? budgets[Number(index)] : undefined;
  const every = isMapping(budget) ? String(budget.every) : '';
  return new UserFault(`--${option} ${every}${inside.startsWith('.alerts') ? ' alerts' : ''}: ${message}`);
}

function optionOf(term: string): Pick<(typeof keyOptions)[KeyTermName], 'option' | 'takes'> {
  return terms.find(([name]) => name === term)?.[1] ?? { option: term, takes: 'text' };
}

/** Refuses options that contradict each other; only for pairs, `--no-...` may stand beside new ones. */
export function checkContradictions(values: Values): void {
  for (const [term, { option, takes }] of takeable) {
    if (takes !== 'pairs' && values[`no-${term}`] === true && values[option] !== undefined) {
      throw new UserFault(`--${option} and --no-${term} contradict each other; keep one of them`);
    }
  }
}

/** How long the former secret stays valid after a rotation. */
export function readOverlap(value: Values[string]): number {
  const text = typeof value === 'string' ? value.trim() : '24h';
  const overlap = parseOverlap(text);
  if (typeof overlap === 'number') return overlap;
  throw new UserFault(`--overlap: ${overlap.fault}`);
}

/** Throws where the project is unknown, as its key would have no limits and budgets. */
export function checkProject(
  id: string | null | undefined,
  { projects }: Snapshot,
  resources: readonly Pick<Resource, 'kind' | 'id'>[],
): void {
  if (id === undefined || id === null) return;
  const stored = resources.flatMap((resource) => (resource.kind === 'project' ? [resource.id] : []));
  const fault = unknownProject(id, new Set([...projects.keys(), ...stored]));
  if (fault !== undefined) throw new UserFault(`--project: ${fault}`);
}

type Pairs = ReadonlyMap<string, string>;

/** For each option that takes `name=value` pairs: makes the new setting from the pairs and from `before`, the key's current settings. */
const pairedTerms: Readonly<
  Record<
    'limits' | 'budgets' | 'metadata',
    (pairs: Pairs, before: KeyTermsDocument | undefined, drops: boolean) => unknown
  >
> = {
  limits(pairs, before, drops) {
    checkTaken('limit', pairs, limitNames, before);
    const given = [...pairs].filter(isSet).map(([name, value]) => [name, toNumber(value)]);
    return { ...kept(before?.limits, pairs, drops), ...Object.fromEntries(given) };
  },

  budgets(pairs, before, drops) {
    checkTaken('budget', pairs, budgetPeriods, before);
    const stays = drops ? [] : (before?.budgets ?? []).filter(({ every }) => !pairs.has(every));
    return [...stays, ...[...pairs].filter(isSet).map(toBudget)];
  },

  metadata: (pairs, before, drops) => ({
    ...kept(before?.metadata, pairs, drops),
    ...Object.fromEntries([...pairs].filter(isSet)),
  }),
};

const isSet = ([, value]: readonly [string, string]): boolean => value !== '';

function kept<T>(before: Readonly<Record<string, T>> = {}, pairs: Pairs, drops: boolean): Record<string, T> {
  return Object.fromEntries(Object.entries(before).filter(([name]) => !drops && !pairs.has(name)));
}

function toNumber(text: string): number | string {
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** A budget of an option such as `50`, or `50:80%,100%` with thresholds of its notifications. */
function toBudget([every, value]: readonly [string, string]): Record<string, unknown> {
  const [amount = '', alerts, ...rest] = value.split(':');
  if (rest.length > 0) {
    throw new UserFault(`--budget ${every}: "${value}" has more than one colon; write it such as ${every}=50:80%,100%`);
  }
  const listed = alerts?.split(',').map((alert) => alert.trim());
  return { every, amount: amount.trim(), ...(listed !== undefined && { alerts: listed }) };
}

/** Refuses to remove a name that cannot exist; removing one that is absent is no fault. */
function checkTaken(
  option: string,
  pairs: Pairs,
  known: readonly string[],
  before: KeyTermsDocument | undefined,
): void {
  for (const [name, value] of pairs) {
    if (value !== '') continue;
    if (before === undefined) throw new UserFault(`--${option} ${name}: has no value; write it such as ${name}=50`);
    if (known.includes(name)) continue;
    const hint = nearHint(name, known, ` (there are ${known.join(', ')})`);
    throw new UserFault(`--${option}: there is no ${option} "${name}"${hint}`);
  }
}

/** The pairs `name=value` of an option, each name once. */
function readPairs(option: string, given: unknown): Pairs {
  const pairs = new Map<string, string>();
  for (const text of Array.isArray(given) ? given : []) {
    const [, name, value = ''] = /^([^=]*[^=\s])\s*=([\s\S]*)$/.exec(String(text).trim()) ?? [];
    if (name === undefined) {
      throw new UserFault(`--${option}: "${String(text)}" is not written as name=value`);
    }
    if (pairs.has(name)) throw new UserFault(`--${option} ${name}: is given twice; keep one of the two`);
    pairs.set(name, value.trim());
  }
  return pairs;
}
