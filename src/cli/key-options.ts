/** Reads what `postern keys create` is told about a key, and says what is wrong with it. */

import { type Operation, operations } from '../core/operation.ts';
import type { ModelIndex } from '../core/snapshot.ts';
import type { NewKey } from '../core/store.ts';
import { toAddressRange } from '../lib/address-range.ts';
import { nearestName } from '../lib/nearest-name.ts';
import { toMilliseconds } from '../lib/quantities.ts';
import type { CommandContext } from './command.ts';
import { UserFault } from './user-fault.ts';

type KeyLimits = Omit<NewKey, 'digest' | 'hint'>;

const maxNameCharacters = 100;

export function readKeyLimits(values: CommandContext['values'], nowMs: number): KeyLimits {
  return {
    name: readName(values.name),
    models: readList('models', values.models, toModelPattern) ?? ['*'],
    operations: readList('operations', values.operations, toOperation),
    addresses: readList('addresses', values.addresses, toAddress),
    expiresAtMs: typeof values.expires === 'string' ? toExpiry(values.expires.trim(), nowMs) : undefined,
  };
}

/** What is legal, as models come and go, and yet most often a slip. */
export function modelWarnings(patterns: readonly string[], models: ModelIndex): string[] {
  const warnings = [];
  for (const name of patterns) {
    if (name.includes('*')) continue;
    const resolved = models.resolve(name);
    if (resolved === undefined) {
      const ids = models.all.map(({ id }) => id);
      warnings.push(`there is no model "${name}" as yet${suggest(nearestName(name, ids))}`);
    } else if (resolved.id !== name) {
      warnings.push(`"${name}" is an alias, and keys are judged by the model's ID: use ${resolved.id}`);
    }
  }
  return warnings;
}

function readName(value: unknown): string {
  const name = typeof value === 'string' ? value.trim() : '';
  if (name.length > maxNameCharacters) throw new UserFault(`--name may have at most ${maxNameCharacters} characters`);
  if (/\p{Cc}/u.test(name)) throw new UserFault('--name may not hold control characters');
  return name;
}

/** Undefined where the option is not there: a list of nothing would be something else. */
function readList<T>(option: string, value: unknown, read: (item: string) => T): T[] | undefined {
  if (typeof value !== 'string') return undefined;
  const items = value.split(',').map((item) => item.trim());
  const found = items.filter((item) => item !== '').map(read);
  if (found.length === 0) throw new UserFault(`--${option} is empty; leave it out, or name at least one`);
  return [...new Set(found)];
}

function toModelPattern(item: string): string {
  if (item.indexOf('*') !== item.lastIndexOf('*')) {
    throw new UserFault(`--models: "${item}" has more than one *; one may stand anywhere in it`);
  }
  if (/\p{Cc}/u.test(item)) throw new UserFault('--models may not hold control characters');
  return item;
}

function toOperation(item: string): Operation {
  const operation = operations.find((known) => known === item);
  if (operation !== undefined) return operation;
  const near = nearestName(item, operations);
  const known = operations.join(', ');
  throw new UserFault(`--operations: there is no operation "${item}"${suggest(near)} (there are ${known})`);
}

function toAddress(item: string): string {
  if (toAddressRange(item) !== undefined) return item;
  throw new UserFault(`--addresses: "${item}" is no IP address or range; write it such as 192.0.2.7 or 10.0.0.0/8`);
}

const spelledUnits: Readonly<Record<string, string>> = {
  day: 'd',
  days: 'd',
  hour: 'h',
  hours: 'h',
  min: 'm',
  minute: 'm',
  minutes: 'm',
  sec: 's',
  second: 's',
  seconds: 's',
};

/** A time from now, or a date: midnight UTC where it names no time of day. */
function toExpiry(text: string, nowMs: number): number {
  const fromNowMs = toMilliseconds(text);
  const atMs = fromNowMs === undefined ? toInstant(text) : nowMs + fromNowMs;
  if (atMs === undefined || Number.isNaN(new Date(atMs).getTime())) {
    const [, digits = '', unit = ''] = /^(\d+) *([a-z]+)$/i.exec(text) ?? [];
    const short = spelledUnits[unit.toLowerCase()];
    const near = suggest(short === undefined ? undefined : digits + short);
    throw new UserFault(`--expires: "${text}" is neither a time such as 30d nor a date such as 2027-01-01${near}`);
  }
  if (atMs <= nowMs) throw new UserFault(`--expires: ${text} is not in the future`);
  return atMs;
}

function toInstant(text: string): number | undefined {
  const [, date] = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/.exec(text) ?? [];
  if (date === undefined) return undefined;
  // The 30th of February would be read as some day in March.
  const day = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(day.getTime()) || !day.toISOString().startsWith(date)) return undefined;
  return Date.parse(text);
}

const suggest = (near: string | undefined): string => (near === undefined ? '' : `; did you mean ${near}?`);
