/** Shows a model in the admin API: its document, the effective settings, and its targets' health. */

import { type Price, type PriceUnit, priceUnits } from '../../core/accounting/price.ts';
import { type Operation, operations } from '../../core/operations/index.ts';
import type { ConfiguredElement, ElementDocument } from '../../core/resource-editor.ts';
import { scoreScales } from '../../core/scores.ts';
import type { Model, Target } from '../../core/snapshot.ts';
import type { HealthReport } from '../../core/target-state.ts';
import { toDollars } from '../../lib/money.ts';
import { fromBytes, fromMilliseconds } from '../../lib/quantities.ts';
import { recordOf } from '../../lib/record-of.ts';
import { listOf, type PriceOrigin } from '../../prices/listed.ts';
import type { ShownIndex } from '../series/states.ts';
import { toInstant, toShown } from '../shapes/common.ts';
import { type SnapshotIndex, summaryOf, type TargetReports, worstOf } from '../target-index.ts';

/** The facts by which a list of models is searched; those of the document until the model is in force. */
export function toModelSketch(element: ConfiguredElement, { models }: SnapshotIndex) {
  const { id, inForce } = element;
  const compiled = models.get(id);
  if (compiled !== undefined && inForce) {
    const { aliases, operations: served, visible, targets } = compiled;
    const shownTargets = targets.map(({ upstream, model }) => ({ upstream: upstream.id, model }));
    return { id, managedBy: element.managedBy, aliases, operations: served, visible, targets: shownTargets };
  }
  const { document } = element;
  return {
    id,
    managedBy: element.managedBy,
    aliases: textsIn(document.aliases),
    operations: operationsIn(document.operations) ?? compiled?.operations ?? [],
    visible: document.visible !== false,
    targets: writtenTargets(id, document),
  };
}

export type ModelSketch = ReturnType<typeof toModelSketch>;

export function toModelView(
  element: ConfiguredElement,
  index: SnapshotIndex,
  reports: TargetReports,
  shown: ShownIndex,
) {
  const compiled = index.models.get(element.id);
  const { aliases, operations: served, ...sketch } = toModelSketch(element, index);
  const { document, inForce } = element;
  return {
    ...toShown(element),
    ...sketch,
    aliases: [...aliases],
    operations: [...served],
    space: inForce ? (compiled?.space ?? null) : textIn(document.space),
    scores: inForce ? (compiled?.scores ?? null) : (scoreScales.find((scale) => scale === document.scores) ?? null),
    targets: targetsOf(element.id, document, inForce ? compiled : undefined).map((target) => ({
      ...target,
      ...healthOf(target, reports),
      shown: shown.ofTarget(element.id, target.upstream),
    })),
    inForce: inForce && compiled !== undefined,
  };
}

const textIn = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function targetsOf(id: string, document: ElementDocument, compiled: Model | undefined) {
  if (compiled === undefined) return writtenTargets(id, document);
  return compiled.targets.map((target) => {
    const { upstream, model, priority, weight, bridge = null } = target;
    return { upstream: upstream.id, model, priority, weight, bridge, price: toPriceView(target, document) };
  });
}

function writtenTargets(id: string, document: ElementDocument) {
  return targetsIn(document).map(({ upstream, model, priority, weight, bridge }) => ({
    upstream: String(upstream ?? ''),
    model: String(model ?? id),
    priority: Number.isInteger(priority) ? Number(priority) : 0,
    weight: Number.isInteger(weight) ? Number(weight) : 1,
    bridge: textIn(bridge),
    price: null,
  }));
}

function healthOf({ upstream, model }: { upstream: string; model: string }, reports: TargetReports) {
  const heard = reports.of(upstream, model);
  const nodes = reports.byNode(upstream, model).map((one) => ({
    node: one.node,
    ...summaryOf([one]),
    restingCredentials: one.states.flatMap(({ restingCredentials }) => restingCredentials),
  }));
  // Missing from a list only if one was read without it.
  return { health: worstOf(heard).state, isListed: heard.every((one) => one.isListed !== false), nodes };
}

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

const operationsIn = (value: unknown): Operation[] | undefined =>
  Array.isArray(value) ? operations.filter((operation) => value.includes(operation)) : undefined;

/** The list settings of a model, and the drift that the nodes measured. */
export function toListView(model: Model | undefined, id: string, reports: readonly HealthReport[]) {
  const { cache, dedupes = false, coalesce, shadow, canary } = model ?? {};
  return {
    cache: cache ? { ttl: fromMilliseconds(cache.ttlMs), scope: cache.scope, max: fromBytes(cache.maxBytes) } : null,
    dedupe: dedupes,
    coalesce: coalesce ? { window: fromMilliseconds(coalesce.windowMs), maxItems: coalesce.maxItems } : null,
    shadow: shadow ? { ...shadow } : null,
    canary: canary ? { texts: canary.texts.length, every: fromMilliseconds(canary.everyMs) } : null,
    agreements: reports.flatMap(({ node, drift }) =>
      (drift?.shadows ?? [])
        .filter((one) => one.model === id)
        .map(({ model: _, ...agreement }) => ({ node, ...agreement })),
    ),
    canaries: reports.flatMap(({ node, drift }) =>
      (drift?.canaries ?? [])
        .filter((one) => one.model === id)
        .map(({ model: _, checkedAtS, ...state }) => ({
          node,
          ...state,
          checkedAt: checkedAtS === null ? null : toInstant(checkedAtS * 1_000),
        })),
    ),
  };
}

type Source = 'target' | 'model' | PriceOrigin['from'] | 'inside' | 'unknown';

/** The price of a target and where it comes from. `document`: the model as written. */
function toPriceView({ upstream, model, price, offers }: Target, document: ElementDocument) {
  const written = targetsIn(document).find(
    (one) => one.upstream === upstream.id && (one.model ?? document.id) === model,
  );
  if (isSet(written?.price)) return pricedAs(price, 'target');
  if (isSet(document.price)) return pricedAs(price, 'model');
  const isInside = price !== undefined && offers.values().some(({ make }) => make !== undefined);
  return pricedAs(price, isInside ? 'inside' : 'unknown');
}

/** A price with its source; `otherwise`: that of a price which is in no list. */
function pricedAs(price: Price | undefined, otherwise: Exclude<Source, PriceOrigin['from']>) {
  const list = price && listOf(price);
  const source: Source = list?.from ?? otherwise;
  return {
    source,
    amounts: price === undefined ? null : toAmounts(price),
    isFree: price !== undefined && Object.values(price).every((nanos) => nanos === 0 || nanos === undefined),
    listed: list === undefined ? null : { source: list.source, asOf: list.asOf, verified: list.verified },
  };
}

/** The list price that a model would have, before it is added. */
export const toListPriceView = (price: Price | undefined) => (price === undefined ? null : pricedAs(price, 'inside'));

const isSet = (written: unknown): boolean => written !== undefined && written !== null;

function targetsIn({ targets }: ElementDocument): Readonly<Record<string, unknown>>[] {
  return Array.isArray(targets) ? targets.filter((one) => typeof one === 'object' && one !== null) : [];
}

function toAmounts(price: Price): Partial<Record<PriceUnit, string>> {
  const known = priceUnits.filter((name) => price[name] !== undefined);
  return recordOf(known, (name) => toDollars(price[name] ?? 0));
}
