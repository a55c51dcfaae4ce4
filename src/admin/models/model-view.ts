/** Shows a model in the admin API: its document, the effective settings, and its targets' health. */

import { type Price, type PriceUnit, priceUnits } from '../../core/accounting/price.ts';
import { type Operation, operations } from '../../core/operations/index.ts';
import type { ConfiguredElement, ElementDocument } from '../../core/resource-editor.ts';
import { type ScoreScale, scoreScales } from '../../core/scores.ts';
import type { Model, Target } from '../../core/snapshot.ts';
import type { HealthReport } from '../../core/target-state.ts';
import { toDollars } from '../../lib/money.ts';
import { fromBytes, fromMilliseconds } from '../../lib/quantities.ts';
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
    space: spaceOf(document, inForce, compiled),
    scores: scoresOf(document, inForce, compiled),
    targets: targetsOf(element.id, document, inForce ? compiled : undefined).map((target) => ({
      ...target,
      ...healthOf(target, reports),
      shown: shown.ofTarget(element.id, target.upstream),
    })),
    inForce: inForce && compiled !== undefined,
  };
}

function spaceOf(document: ElementDocument, inForce: boolean, compiled: Model | undefined): string | null {
  if (inForce) return compiled?.space ?? null;
  return typeof document.space === 'string' ? document.space : null;
}

function scoresOf(document: ElementDocument, inForce: boolean, compiled: Model | undefined): ScoreScale | null {
  if (inForce) return compiled?.scores ?? null;
  return scoreScales.find((scale) => scale === document.scores) ?? null;
}

function targetsOf(id: string, document: ElementDocument, compiled: Model | undefined) {
  if (compiled === undefined) return writtenTargets(id, document);
  return compiled.targets.map((target) => ({
    upstream: target.upstream.id,
    model: target.model,
    priority: target.priority,
    weight: target.weight,
    bridge: target.bridge ?? null,
    price: toPriceView(target, document),
  }));
}

function writtenTargets(id: string, document: ElementDocument) {
  return targetsIn(document).map(({ upstream, model, priority, weight, bridge }) => ({
    upstream: String(upstream ?? ''),
    model: String(model ?? id),
    priority: Number.isInteger(priority) ? Number(priority) : 0,
    weight: Number.isInteger(weight) ? Number(weight) : 1,
    bridge: typeof bridge === 'string' ? bridge : null,
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
  const list = price === undefined ? undefined : listOf(price);
  return pricedAs(price, sourceOf());

  function sourceOf(): Source {
    if (list !== undefined) return list.from;
    const written = targetsIn(document).find(
      (one) => one.upstream === upstream.id && (one.model ?? document.id) === model,
    );
    if (isSet(written?.price)) return 'target';
    if (isSet(document.price)) return 'model';
    return price !== undefined && offers.values().some(({ make }) => make !== undefined) ? 'inside' : 'unknown';
  }
}

function pricedAs(price: Price | undefined, source: Source) {
  const list = price === undefined ? undefined : listOf(price);
  return {
    source,
    amounts: price === undefined ? null : toAmounts(price),
    isFree: price !== undefined && Object.values(price).every((nanos) => nanos === 0 || nanos === undefined),
    listed: list === undefined ? null : { source: list.source, asOf: list.asOf, verified: list.verified },
  };
}

/** The list price that a model would have, before it is added. */
export const toListPriceView = (price: Price | undefined) =>
  price === undefined ? null : pricedAs(price, listOf(price)?.from ?? 'inside');

const isSet = (written: unknown): boolean => written !== undefined && written !== null;

function targetsIn({ targets }: ElementDocument): Readonly<Record<string, unknown>>[] {
  return Array.isArray(targets) ? targets.filter((one) => typeof one === 'object' && one !== null) : [];
}

function toAmounts(price: Price): Partial<Record<PriceUnit, string>> {
  const known = priceUnits.map((name) => [name, price[name]] as const);
  return Object.fromEntries(known.flatMap(([name, nanos]) => (nanos === undefined ? [] : [[name, toDollars(nanos)]])));
}
