/** Reads what `postern keys` is told about a key, and says what is wrong with it. */

import { parseOverlap } from '../config/elements/key/key-terms.ts';
import { unknownProject } from '../config/elements/key/key-warnings.ts';
import { type Operation, operations } from '../core/operation.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { KeyChange, NewKey, Resource, StoredKey } from '../core/store.ts';
import { type RerankShape, rerankShapes } from '../core/translation.ts';
import { UserFault } from '../core/user-fault.ts';
import { toAddressRange } from '../lib/address-range.ts';
import { nearestName } from '../lib/nearest-name.ts';
import { toMilliseconds } from '../lib/quantities.ts';
import type { CommandContext } from './command.ts';
import { readCaps, readNotes } from './key-caps-options.ts';

type Values = CommandContext['values'];
type NewKeyParts = Omit<NewKey, 'digest' | 'hint'>;

const maxNameCharacters = 100;

export function readNewKey(values: Values, nowMs: number): NewKeyParts {
  const { metadata, captureMs } = readNotes(values, undefined);
  return {
    name: readName(values.name),
    project: textOf(values.project),
    models: readList('models', values.models, toModelPattern) ?? ['*'],
    operations: readList('operations', values.operations, toOperation),
    addresses: readList('addresses', values.addresses, toAddress),
    expiresAtMs: typeof values.expires === 'string' ? toExpiry(values.expires.trim(), nowMs) : undefined,
    caps: readCaps(values, undefined),
    metadata,
    captureMs: captureMs ?? undefined,
    shape: readShape(values.shape),
  };
}

/** Only what was given; an empty value, or `--no-...`, takes away what is there. */
export function readKeyChange(values: Values, key: StoredKey, nowMs: number): KeyChange {
  const { metadata, captureMs } = readNotes(values, key.metadata);
  const caps = readCaps(values, key.caps);
  const models = readList('models', values.models, toModelPattern);
  const change: { -readonly [Field in keyof KeyChange]: KeyChange[Field] } = {};
  if (values.name !== undefined) change.name = readName(values.name);
  if (models !== undefined) change.models = models;
  if (isTaken(values, 'operations')) change.operations = null;
  else if (values.operations !== undefined) {
    change.operations = readList('operations', values.operations, toOperation) ?? null;
  }
  if (isTaken(values, 'addresses')) change.addresses = null;
  else if (values.addresses !== undefined)
    change.addresses = readList('addresses', values.addresses, toAddress) ?? null;
  if (isTaken(values, 'project')) change.project = null;
  else if (values.project !== undefined) change.project = textOf(values.project) ?? null;
  if (isTaken(values, 'expires')) change.expiresAtMs = null;
  else if (typeof values.expires === 'string') change.expiresAtMs = toExpiry(values.expires.trim(), nowMs);
  if (caps !== undefined) change.caps = caps;
  if (metadata !== undefined) change.metadata = metadata;
  if (captureMs !== undefined) change.captureMs = captureMs;
  if (isTaken(values, 'shape')) change.shape = null;
  else if (values.shape !== undefined) change.shape = readShape(values.shape) ?? null;
  if (Object.keys(change).length === 0) {
    throw new UserFault('say what to change, such as --expires 30d or --limit requests_per_minute=60');
  }
  return change;
}

/** Options that contradict each other are better asked about than guessed. */
export function checkContradictions(values: Values): void {
  for (const option of ['project', 'operations', 'addresses', 'expires', 'capture', 'shape']) {
    if (values[`no-${option}`] === true && values[option] !== undefined) {
      throw new UserFault(`--${option} and --no-${option} contradict each other; keep one of them`);
    }
  }
}

function readShape(value: Values[string]): RerankShape | undefined {
  const name = textOf(value);
  if (name === undefined) return undefined;
  const shape = rerankShapes.find((known) => known === name);
  if (shape !== undefined) return shape;
  throw new UserFault(`--shape: there is no shape "${name}" (there are ${rerankShapes.join(', ')})`);
}

/** For how long the former secret goes on working. */
export function readOverlap(value: Values[string]): number {
  const text = typeof value === 'string' ? value.trim() : '24h';
  const overlap = parseOverlap(text);
  if (typeof overlap === 'number') return overlap;
  throw new UserFault(`--overlap: ${overlap.fault}`);
}

/** A project that is not there would cap nothing. */
export function checkProject(
  id: string | null | undefined,
  { projects }: Snapshot,
  resources: readonly Pick<Resource, 'kind' | 'id'>[],
): void {
  if (id === undefined || id === null) return;
  const stored = resources.flatMap((resource) => (resource.kind === 'project' ? [resource.id] : []));
  const known = new Set([...projects.keys(), ...stored]);
  const whatToDo = 'declare it under projects in the file, or put it in with "postern resources apply"';
  const fault = unknownProject(id, known, whatToDo);
  if (fault !== undefined) throw new UserFault(`--project: ${fault}`);
}

const textOf = (value: Values[string]): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

function isTaken(values: Values, option: string): boolean {
  const value = values[option];
  return values[`no-${option}`] === true || (typeof value === 'string' && value.trim() === '');
}

function readName(value: Values[string]): string {
  const name = typeof value === 'string' ? value.trim() : '';
  if (name.length > maxNameCharacters) throw new UserFault(`--name may have at most ${maxNameCharacters} characters`);
  if (/\p{Cc}/u.test(name)) throw new UserFault('--name may not hold control characters');
  return name;
}

/** Undefined where the option is not there: a list of nothing would be something else. */
function readList<T>(option: string, value: Values[string], read: (item: string) => T): T[] | undefined {
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
export function toExpiry(text: string, nowMs: number): number {
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

export function toInstant(text: string): number | undefined {
  const [, date] = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/.exec(text) ?? [];
  if (date === undefined) return undefined;
  // The 30th of February would be read as some day in March.
  const day = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(day.getTime()) || !day.toISOString().startsWith(date)) return undefined;
  return Date.parse(text);
}

const suggest = (near: string | undefined): string => (near === undefined ? '' : `; did you mean ${near}?`);
