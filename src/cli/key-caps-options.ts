/** Reads what `postern keys` is told about limits, budgets and notes: `--limit`, `--budget`, `--metadata` and `--capture`. */

import { parseCaps } from '../config/elements/caps.ts';
import { parseKeyNotes } from '../config/elements/key/key-fields.ts';
import { budgetPeriods, type Caps, measures, noCaps, rateWindows } from '../core/caps.ts';
import type { FieldFault } from '../core/field-fault.ts';
import { UserFault } from '../core/user-fault.ts';
import { nearestName } from '../lib/nearest-name.ts';
import type { CommandContext } from './command.ts';

type Values = CommandContext['values'];

const limitNames = [
  ...measures.flatMap((measure) => rateWindows.map((window) => `${measure}_per_${window}`)),
  'concurrency',
];

/** What was given on top of what was there; undefined where nothing was. An empty value takes one away, `--no-...` all of them. */
export function readCaps(values: Values, before: Caps | undefined): Caps | undefined {
  const limits = readPairs('limit', values.limit);
  const budgets = readPairs('budget', values.budget);
  const dropsLimits = values['no-limits'] === true;
  const dropsBudgets = values['no-budgets'] === true;
  if (limits.size === 0 && budgets.size === 0 && !dropsLimits && !dropsBudgets) return undefined;

  for (const [name, value] of limits) checkTaken('limit', name, value, limitNames, before);
  for (const [period, value] of budgets) checkTaken('budget', period, value, budgetPeriods, before);
  const given = parse(limits, budgets);
  const kept = before ?? noCaps;
  return {
    rates: [
      ...(dropsLimits ? [] : kept.rates.filter(({ measure, window }) => !limits.has(`${measure}_per_${window}`))),
      ...given.rates,
    ],
    concurrency: given.concurrency ?? (dropsLimits || limits.has('concurrency') ? undefined : kept.concurrency),
    budgets: [...(dropsBudgets ? [] : kept.budgets.filter(({ period }) => !budgets.has(period))), ...given.budgets],
  };
}

function parse(limits: ReadonlyMap<string, string>, budgets: ReadonlyMap<string, string>): Caps {
  const set = (pairs: ReadonlyMap<string, string>) => [...pairs].filter(([, value]) => value !== '');
  const periods = set(budgets);
  const { caps, faults } = parseCaps({
    limits: Object.fromEntries(set(limits).map(([name, value]) => [name, toNumber(value)])),
    budgets: periods.map(([every, value]) => toBudget(every, value)),
  });
  if (faults === undefined) return caps;
  const [fault] = faults;
  throw new UserFault(toSentence(fault, periods));
}

/** `50` or `50:80%,100%`. */
function toBudget(every: string, value: string): Record<string, unknown> {
  const [amount = '', alerts, ...rest] = value.split(':');
  if (rest.length > 0) {
    throw new UserFault(`--budget ${every}: "${value}" has more than one colon; write it such as ${every}=50:80%,100%`);
  }
  const listed = alerts?.split(',').map((alert) => alert.trim());
  return { every, amount: amount.trim(), ...(listed !== undefined && { alerts: listed }) };
}

/** With the option and the name that the operator wrote. */
function toSentence(fault: FieldFault | undefined, budgets: readonly (readonly [string, string])[]): string {
  const { path = '', message = 'cannot be read' } = fault ?? {};
  const limit = /^limits\.?(.*)$/.exec(path)?.[1];
  if (limit !== undefined) return `--limit ${limit.replace(/^\["(.*)"\]$/, '$1')}: ${message}`;
  const [, index, inside = ''] = /^budgets\[(\d+)\](?:\.(.*))?$/.exec(path) ?? [];
  const period = budgets[Number(index)]?.[0];
  return `--budget ${period ?? ''}${inside.startsWith('alerts') ? ' alerts' : ''}: ${message}`;
}

function toNumber(text: string): number | string {
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** What is taken away must have a name that can be there at all; where there was nothing, there is nothing to take. */
function checkTaken(
  option: string,
  name: string,
  value: string,
  known: readonly string[],
  before: Caps | undefined,
): void {
  if (value !== '') return;
  if (before === undefined) throw new UserFault(`--${option} ${name}: has no value; write it such as ${name}=50`);
  if (known.includes(name)) return;
  const near = nearestName(name, known);
  throw new UserFault(
    `--${option}: there is no ${option} "${name}"${near === undefined ? ` (there are ${known.join(', ')})` : `; did you mean ${near}?`}`,
  );
}

export interface KeyNotes {
  readonly metadata: Readonly<Record<string, string>> | undefined;
  /** Null takes it away; undefined leaves it as it is. */
  readonly captureMs: number | null | undefined;
}

export function readNotes(values: Values, before: Readonly<Record<string, string>> | undefined): KeyNotes {
  const pairs = readPairs('metadata', values.metadata);
  const drops = values['no-metadata'] === true;
  const capture = typeof values.capture === 'string' ? values.capture.trim() : undefined;
  const parsed = parseKeyNotes({
    metadata: Object.fromEntries([...pairs].filter(([, value]) => value !== '')),
    ...(capture !== undefined && capture !== '' && { capture }),
  });
  if (parsed.faults !== undefined) {
    const [{ path, message } = { path: '', message: '' }] = parsed.faults;
    const name = path.replace(/^metadata\.?/, '').replace(/^\["(.*)"\]$/, '$1');
    throw new UserFault(path === 'capture' ? `--capture: ${message}` : `--metadata ${name}: ${message}`);
  }
  const kept = Object.entries(drops ? {} : (before ?? {})).filter(([name]) => !pairs.has(name));
  const isDropped = values['no-capture'] === true || capture === '';
  return {
    metadata: pairs.size === 0 && !drops ? undefined : { ...Object.fromEntries(kept), ...parsed.metadata },
    captureMs: isDropped ? null : parsed.captureMs,
  };
}

/** `name=value`, each name once. */
function readPairs(option: string, given: Values[string]): ReadonlyMap<string, string> {
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
