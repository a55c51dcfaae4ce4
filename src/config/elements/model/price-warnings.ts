/** Warns of prices with which cost would not be counted: unknown ones under a budget, and those that lack a billed unit. */

import { type Caps, noCaps } from '../../../core/caps.ts';
import { fitsName } from '../../../core/model-name.ts';
import { type Operation, operationRows } from '../../../core/operations/index.ts';
import type { Model, Snapshot, Target } from '../../../core/snapshot.ts';
import { inShort } from '../../../lib/in-short.ts';
import { pricedByOne } from '../../../prices/imported.ts';
import { ageText, listOf } from '../../../prices/listed.ts';
import { type CompileContext, Location } from '../context.ts';
import { ReusableStep } from '../reuse.ts';
import type { CompiledGroup } from './compile.ts';
import type { ModelEntry, TargetEntry } from './schema.ts';
import { serves } from './targets.ts';

type Written = Exclude<TargetEntry['price'], 'free' | 'unknown' | undefined>;
type Unit = Exclude<keyof Written, 'batch' | 'factors' | 'tools'>;

type Holders = Pick<Snapshot, 'keys' | 'projects'>;

interface CalledTarget {
  readonly entry: TargetEntry;
  readonly target: Target;
  /** The target's name in messages, such as `targets[1]`. */
  readonly name: string;
}

export function* priceWarnings(
  groups: readonly CompiledGroup[],
  holders: Holders,
  context: CompileContext,
): Generator<undefined, void, undefined> {
  const isCounted = createCounted(holders);
  const { warnings, nowMs } = context;
  const day = Math.floor(nowMs / dayMs);
  const old = new Map<string, string[]>();
  function* judgeGroup({ pairs }: CompiledGroup): Generator<undefined, OldList[], undefined> {
    const found: OldList[] = [];
    for (const { entry, model } of pairs) {
      if (judging.isPauseDue()) yield;
      const isBudgeted = isCounted(model);
      const lists = judging.of(entry, [model, isBudgeted, day], context, () => {
        const called = calledTargets(entry.value, model);
        const location = new Location(context, entry.path);
        warnOfUnknownPrices(entry.value, called, isBudgeted, location);
        warnOfMissingUnits(entry.value, model, called, location);
        warnOfPricesPerToken(entry.value, location);
        return oldLists(called, isBudgeted, nowMs);
      });
      for (const list of lists) found.push({ list, id: model.id });
    }
    return found;
  }
  for (const group of groups) {
    if (judgingGroup.isPauseDue()) yield;
    const found = yield* judgingGroup.steps(group, [isCounted, day], context, () => judgeGroup(group));
    for (const { list, id } of found) old.set(list, [...(old.get(list) ?? []), id]);
  }
  for (const [list, ids] of old) {
    const text = `budgets count ${inShort(ids.map((id) => JSON.stringify(id)))} by ${list}; set price, or import newer ones, where they have changed`;
    warnings.push({ path: [], text });
  }
}

/** Remembers, by model, its warnings and the outdated price lists that budgets rely on. */
const judging = new ReusableStep<ReadonlySet<string>>();
const judgingGroup = new ReusableStep<readonly OldList[]>();

interface OldList {
  readonly list: string;
  readonly id: string;
}

const dayMs = 86_400_000;

function oldLists(called: readonly CalledTarget[], isBudgeted: boolean, nowMs: number): Set<string> {
  const lists = new Set<string>();
  for (const { target } of called) {
    const { price, upstream } = target;
    const list = price === undefined || !(isBudgeted || hasBudgets(upstream.caps)) ? undefined : listOf(price);
    const age = list === undefined ? '' : ageText(list.asOf, nowMs);
    if (list === undefined || age === '') continue;
    const which =
      list.from === 'table' ? 'the prices that come with Postern' : `the prices imported from ${list.source}`;
    lists.add(`${which}, which are as of ${list.asOf}${age}`);
  }
  return lists;
}

/** The targets that may be called: those without weight are not, and those with an unknown upstream have a fault of their own. */
function calledTargets(value: ModelEntry, model: Model): CalledTarget[] {
  const byCall = new Map(model.targets.map((target) => [`${target.upstream.id} ${target.model}`, target]));
  return value.targets.flatMap((entry, index) => {
    const target = byCall.get(`${entry.upstream} ${entry.model ?? value.id}`);
    return target === undefined || target.weight === 0 ? [] : [{ entry, target, name: `targets[${index}]` }];
  });
}

/** Warns of unknown prices, unless the operator set them to unknown. `isCounted`: a caller of the model may have a budget. */
function warnOfUnknownPrices(
  value: ModelEntry,
  called: readonly CalledTarget[],
  isCounted: boolean,
  location: Location,
): void {
  const unknown = called.filter(
    ({ entry, target }) =>
      target.price === undefined &&
      (entry.price ?? value.price) === undefined &&
      (isCounted || hasBudgets(target.upstream.caps)),
  );
  if (unknown.length === 0) return;
  const subject = unknown.length === value.targets.length ? 'its price' : `the price of ${inWords(unknown)}`;
  location.warn(
    `: ${subject} is not known, so budgets do not count it; set price (or price: unknown, if that is meant)`,
  );
}

/** Returns whether a model's cost may count for a budget other than its upstreams'. */
function createCounted({ keys, projects }: Holders): (model: Model) => boolean {
  // The keys that a project has in the store are unknown at this point.
  if (projects.values().some(({ caps }) => hasBudgets(caps))) return everyModel;
  const named = new Set<string>();
  for (const { caps, models } of keys.values()) if (hasBudgets(caps)) for (const name of models) named.add(name);
  if (named.size === 0) return ownBudgets;
  const patterns = [...named].filter((name) => name.includes('*'));
  return ({ id, caps }) => {
    if (hasBudgets(caps) || named.has(id)) return true;
    return id.includes('*') ? named.size > 0 : patterns.some((pattern) => reaches(pattern, id));
  };
}

const everyModel = (): boolean => true;
const ownBudgets = ({ caps }: Model): boolean => hasBudgets(caps);

export const hasBudgets = ({ budgets }: Caps = noCaps): boolean => budgets.length > 0;

/** Whether a key's pattern may cover a model; a model that is itself a pattern may have any name. */
export const reaches = (pattern: string, id: string): boolean => id.includes('*') || fitsName(pattern, id);

function warnOfPricesPerToken(value: ModelEntry, location: Location): void {
  const written = [
    { at: location.at('price'), price: value.price },
    ...value.targets.map(({ price }, index) => ({ at: location.at('targets', index, 'price'), price })),
  ];
  for (const { at, price } of written) {
    if (price === undefined || typeof price === 'string') continue;
    const units = pricedByOne(price);
    if (units.length === 0) continue;
    at.warn(
      `: ${units.join(' and ')} looks like the price of one token; prices here are for a million: multiply it by a million`,
    );
  }
}

/** Warns of prices that lack a billed unit, once for each written price, even if several targets use it. */
function warnOfMissingUnits(
  value: ModelEntry,
  model: Model,
  called: readonly CalledTarget[],
  location: Location,
): void {
  const warnings = new Set<string>();
  for (const { entry, target, name } of called) {
    const written = entry.price ?? value.price;
    if (written === undefined || written === 'free' || written === 'unknown') continue;
    const path = entry.price === undefined ? '.price' : `.${name}.price`;
    for (const operation of model.operations) {
      if (!serves({ target }, operation)) continue;
      const warning = unitWarning(operation, written, target.bridge !== undefined);
      if (warning !== undefined) warnings.add(`${path} ${warning}`);
    }
  }
  for (const warning of warnings) location.warn(warning);
}

function unitWarning(operation: Operation, written: Written, isBridged: boolean): string | undefined {
  const { billedBy, yields } = operationRows[operation];
  const has = (unit: Unit): boolean => written[unit] !== undefined;
  if (billedBy.length === 0) return undefined;
  if (!billedBy.some(has) && !(isBridged && has('output'))) {
    return `names nothing that ${operation} is billed by, so it costs nothing; set one of ${billedBy.join(', ')}`;
  }
  if (yields !== 'text' || !has('input') || has('output') || has('request') || has('item')) return undefined;
  return `has input without output, so the text that ${operation} makes costs nothing; set output (0, if that is meant)`;
}

const inWords = (targets: readonly CalledTarget[]): string => targets.map(({ name }) => name).join(', ');
