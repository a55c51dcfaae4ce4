/** Validates the settings of a key for the file, the command line, the admin API and the console. */

import type * as z from 'zod';
import type { KeyRecord } from '../../../core/key.ts';
import type { KeyGround, KeyJudge, NewKeyTerms, ParsedTerms } from '../../../core/key-judge.ts';
import type { KeyChange } from '../../../core/store/keys.ts';
import { isMapping } from '../../../lib/is-mapping.ts';
import { durationPattern, fromMilliseconds, toMilliseconds } from '../../../lib/quantities.ts';
import { FaultList, unlocated } from '../../read/faults.ts';
import type { FilePosition } from '../../read/source.ts';
import { describeCaps, toCaps } from '../caps.ts';
import { checkStars, Location, type Reporting } from '../context.ts';
import { displayName, displayNameWanted, mapping } from '../fields.ts';
import { judge } from '../judge.ts';
import { describeKeyTerms, keyTermFields, toChange, toTerms } from './terms.ts';
import { keyWarnings, unknownProject } from './warnings.ts';

export function createKeyJudge(current: () => { readonly keyPositions: ReadonlyMap<string, FilePosition> }): KeyJudge {
  return {
    parseNew: (document, ground) => parseNewKeyTerms(document, ground),
    parseChange: parseKeyChange,
    parseOverlap,
    describe: describeKeyTerms,
    warnings: keyWarnings,
    positionOf: (id) => current().keyPositions.get(id),
  };
}

const longestOverlapMs = 365 * 86_400_000;

const newSchema = mapping({ name: displayName().default(''), ...keyTermFields });
const changeSchema = newSchema.partial().extend({ name: displayName().optional() });

/** The location of values in a document that is not in the file. */
const locationIn = (faults: FaultList): Location<Reporting> =>
  new Location({ faults, locator: unlocated, isSubstituted: () => false, warnings: [] }, []);

/** Validates a new key. `mayBeNameless`: scripts keep the answer, so their keys need no name by which people recognise them. */
export function parseNewKeyTerms(
  document: unknown,
  ground: KeyGround,
  { mayBeNameless = false } = {},
): ParsedTerms<NewKeyTerms> {
  const faults = new FaultList();
  const location = locationIn(faults);
  const written = withoutNulls(fromNow(document, ground.nowMs, faults));
  if (!mayBeNameless && isMapping(written) && written.name === undefined) {
    location.at('name').fault(`is missing; wanted: ${displayNameWanted}`);
  }
  const value = judge(newSchema, written, [], location.context);
  const caps = value && toCaps(value, location);
  if (value !== undefined) checkOfStore(value, ground, location);
  const found = faults.all();
  if (value === undefined || caps === undefined || found.length > 0) return { faults: found };
  return { terms: { name: value.name.trim(), ...toTerms(value, caps) } };
}

/** Validates a change of a key: only the given fields, each replaced as a whole; null removes one. */
export function parseKeyChange(
  document: unknown,
  before: Pick<KeyRecord, 'caps'>,
  ground: KeyGround,
): ParsedTerms<KeyChange> {
  const faults = new FaultList();
  const location = locationIn(faults);
  const given = fromNow(document, ground.nowMs, faults);
  const has = (field: string): boolean => isMapping(given) && given[field] !== undefined;
  const written = withoutNulls(given);
  // Of limits and budgets, the one that is unchanged stays, and is validated with the change.
  const { limits, budgets } = describeCaps(before.caps);
  const kept = { ...(has('limits') ? {} : { limits }), ...(has('budgets') ? {} : { budgets }) };
  const value = judge(changeSchema, isMapping(written) ? { ...kept, ...written } : written, [], location.context);
  const caps = value && toCaps({ limits: value.limits ?? {}, budgets: value.budgets ?? [] }, location);
  if (value !== undefined) checkOfStore(value, ground, location);
  for (const field of ['name', 'models']) {
    if (isMapping(given) && given[field] === null) {
      location.at(field).fault('cannot be taken away; leave it out to keep it as it is');
    }
  }
  const found = faults.all();
  if (value === undefined || caps === undefined || found.length > 0) return { faults: found };
  const { models = [], metadata = {} } = value;
  const change = toChange(toTerms({ ...value, models, metadata }, caps), has);
  return { terms: { ...(value.name !== undefined && { name: value.name.trim() }), ...change } };
}

export function checkTerms(
  { models = [] }: { readonly models?: readonly string[] | undefined },
  location: Location<Reporting>,
): void {
  for (const [index, model] of models.entries()) checkStars(model, location.at('models', index));
}

/** Checks what only keys of the store must satisfy; those of a file may have no models, or have expired. */
function checkOfStore(
  { models, expires, project }: z.output<typeof changeSchema>,
  { nowMs, projects }: KeyGround,
  location: Location<Reporting>,
): void {
  checkTerms({ models }, location);
  if (models?.length === 0) location.at('models').fault('names no model; name at least one, or write "*" for all');
  if (expires !== undefined && expires <= nowMs) location.at('expires').fault('is not in the future');
  const unknown = project === undefined || projects === undefined ? undefined : unknownProject(project, projects);
  if (unknown !== undefined) location.at('project').fault(unknown);
}

export function parseOverlap(text: string): number | { readonly fault: string } {
  const overlapMs = toMilliseconds(text);
  if (overlapMs === undefined) return { fault: `"${text}" is no time; write it such as 24h, or 0s for none` };
  if (overlapMs <= longestOverlapMs) return overlapMs;
  return { fault: `${text} is too long; it may be ${fromMilliseconds(longestOverlapMs)} at most` };
}

const spelledTime = /^(\d+) *(day|hour|min|minute|sec|second)s?$/i;

/** The document with `expires` as a time, where it is a duration from now, such as `30d`. */
function fromNow(document: unknown, nowMs: number, faults: FaultList): unknown {
  if (!isMapping(document) || typeof document.expires !== 'string') return document;
  const text = document.expires.trim();
  const [, digits = '', unit = ''] = spelledTime.exec(text) ?? [];
  if (unit !== '') {
    const near = digits + unit.charAt(0).toLowerCase();
    faults.add(
      ['expires'],
      `wanted: a time from now such as 30d; came: ${JSON.stringify(text)}; did you mean ${near}?`,
    );
    return { ...document, expires: undefined };
  }
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
