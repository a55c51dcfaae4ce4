/** What a key of the store may do, as the admin API takes it and gives it back: the words that the file has for its own keys. */

import type * as z from 'zod';
import type { Caps } from '../../../core/caps.ts';
import type { KeyRecord } from '../../../core/key.ts';
import type { KeyTerms, NewKeyTerms, ParsedTerms } from '../../../core/key-terms.ts';
import type { KeyChange } from '../../../core/store.ts';
import { isMapping } from '../../../lib/is-mapping.ts';
import { toDollars } from '../../../lib/money.ts';
import { durationPattern, fromMilliseconds, toMilliseconds } from '../../../lib/quantities.ts';
import type { LoadedConfiguration } from '../../load.ts';
import { createFaultList, type FaultList, toFieldFaults } from '../../read/faults.ts';
import { toCaps } from '../caps.ts';
import { checkStars } from '../context.ts';
import { text } from '../fields.ts';
import { judge } from '../judge.ts';
import { keySchema } from '../schema.ts';
import { checkAddresses } from '../server/compile.ts';
import { modelWarnings, unknownProject, unpricedWarnings } from './key-warnings.ts';

/** Of the configuration in force. */
export function createKeyTerms(current: () => LoadedConfiguration): KeyTerms {
  return {
    parseNew: parseNewKeyTerms,
    parseChange: parseKeyChange,
    parseOverlap,
    describe: describeKeyTerms,
    describeCaps,
    unknownProject,
    warnings: (key, snapshot) => [...modelWarnings(key.models, snapshot.models), ...unpricedWarnings(key, snapshot)],
    placeOf(id) {
      const { file, keyLines } = current();
      const line = keyLines.get(id);
      return file === undefined || line === undefined ? undefined : { file, line };
    },
  };
}

const longestOverlapMs = 365 * 86_400_000;

const termsSchema = keySchema.omit({ id: true, secret: true }).extend({
  name: text('text without control characters, of 1 to 100 characters', /^(?=.*\S)[^\p{Cc}\p{Cs}]{1,100}$/u),
});
const changeSchema = termsSchema.partial();

const nowhere = (): undefined => undefined;

export function parseNewKeyTerms(document: unknown, nowMs: number): ParsedTerms<NewKeyTerms> {
  const faults = createFaultList(nowhere);
  const written = withoutNulls(fromNow(document, nowMs));
  const value = judge(termsSchema, written, [], { faults, isSubstituted: () => false });
  const caps = value && toCaps(value, [], { faults, positionOf: nowhere });
  if (value !== undefined) checkFields(value, nowMs, faults);
  const found = toFieldFaults(faults);
  if (value === undefined || caps === undefined || found.length > 0) return { faults: found };
  return {
    terms: {
      name: value.name.trim(),
      project: value.project,
      models: unique(value.models),
      operations: value.operations && unique(value.operations),
      addresses: value.addresses && unique(value.addresses),
      expiresAtMs: value.expires,
      caps,
      metadata: value.metadata,
      captureMs: value.capture,
      shape: value.shape,
    },
  };
}

/** Only what was given, each field as a whole; null takes away what is there. */
export function parseKeyChange(
  document: unknown,
  before: Pick<KeyRecord, 'caps'>,
  nowMs: number,
): ParsedTerms<KeyChange> {
  const faults = createFaultList(nowhere);
  const given = fromNow(document, nowMs);
  const has = (field: string): boolean => isMapping(given) && given[field] !== undefined;
  const written = withoutNulls(given);
  // What of the two is not said anew stays, and is judged together with what is.
  const { limits, budgets } = describeCaps(before.caps);
  const kept = { ...(has('limits') ? {} : { limits }), ...(has('budgets') ? {} : { budgets }) };
  const value = judge(changeSchema, isMapping(written) ? { ...kept, ...written } : written, [], {
    faults,
    isSubstituted: () => false,
  });
  const caps =
    value && toCaps({ limits: value.limits ?? {}, budgets: value.budgets ?? [] }, [], { faults, positionOf: nowhere });
  if (value !== undefined) checkFields(value, nowMs, faults);
  for (const field of ['name', 'models']) {
    if (isMapping(given) && given[field] === null) {
      faults.add([field], 'cannot be taken away; leave it out to keep it as it is');
    }
  }
  const found = toFieldFaults(faults);
  if (value === undefined || caps === undefined || found.length > 0) return { faults: found };

  const change: { -readonly [Field in keyof KeyChange]: KeyChange[Field] } = {};
  if (value.name !== undefined) change.name = value.name.trim();
  if (has('models')) change.models = unique(value.models ?? []);
  if (has('operations')) change.operations = value.operations === undefined ? null : unique(value.operations);
  if (has('addresses')) change.addresses = value.addresses === undefined ? null : unique(value.addresses);
  if (has('project')) change.project = value.project ?? null;
  if (has('expires')) change.expiresAtMs = value.expires ?? null;
  if (has('limits') || has('budgets')) change.caps = caps;
  if (has('metadata')) change.metadata = value.metadata ?? {};
  if (has('capture')) change.captureMs = value.capture ?? null;
  if (has('shape')) change.shape = value.shape ?? null;
  return { terms: change };
}

const unique = <T>(items: readonly T[]): T[] => [...new Set(items)];

function checkFields(
  { models = ['*'], addresses = [], expires }: Pick<z.output<typeof changeSchema>, 'models' | 'addresses' | 'expires'>,
  nowMs: number,
  faults: FaultList,
): void {
  for (const [index, model] of models.entries()) checkStars(model, ['models', index], { faults });
  if (models.length === 0) faults.add(['models'], 'names no model; name at least one, or write "*" for all');
  checkAddresses(addresses, ['addresses'], { faults });
  if (expires !== undefined && expires <= nowMs) faults.add(['expires'], 'is not in the future');
}

/** For how long a former secret goes on working. */
export function parseOverlap(text: string): number | { readonly fault: string } {
  const overlapMs = toMilliseconds(text);
  if (overlapMs === undefined) return { fault: `"${text}" is no time; write it such as 24h, or 0s for none` };
  if (overlapMs <= longestOverlapMs) return overlapMs;
  return { fault: `${text} is too long; it may be ${fromMilliseconds(longestOverlapMs)} at most` };
}

/** `30d` is a time from now. */
function fromNow(document: unknown, nowMs: number): unknown {
  if (!isMapping(document) || typeof document.expires !== 'string') return document;
  const text = document.expires.trim();
  const aheadMs = durationPattern.test(text) ? toMilliseconds(text) : undefined;
  const at = aheadMs === undefined ? undefined : new Date(nowMs + aheadMs);
  return at === undefined || Number.isNaN(at.getTime()) || at.getUTCFullYear() > 9999
    ? { ...document, expires: text }
    : { ...document, expires: at.toISOString() };
}

function withoutNulls(document: unknown): unknown {
  if (!isMapping(document)) return document;
  return Object.fromEntries(Object.entries(document).filter(([, value]) => value !== null));
}

/** In the file's words; null where nothing is said. */
export function describeKeyTerms(key: Omit<KeyRecord, 'id' | 'managedBy' | 'expiresAtMs' | 'revokedAtMs'>) {
  return {
    project: key.project ?? null,
    models: key.models,
    operations: key.operations ?? null,
    addresses: key.addresses ?? null,
    ...describeCaps(key.caps),
    metadata: key.metadata,
    capture: key.captureMs === undefined ? null : fromMilliseconds(key.captureMs),
    shape: key.shape ?? null,
  };
}

export function describeCaps({ rates, concurrency, budgets }: Caps) {
  return {
    limits: Object.fromEntries<number>([
      ...rates.map(({ measure, window, most }) => [`${measure}_per_${window}`, most] as const),
      ...(concurrency === undefined ? [] : [['concurrency', concurrency] as const]),
    ]),
    budgets: budgets.map(({ period, nanos, alerts }) => ({
      every: period,
      amount: toDollars(nanos),
      alerts: alerts.map((percent) => `${percent}%`),
    })),
  };
}
