/** Converts a model between its form and the configuration document. Fields that the form lacks are kept. */

import { type LimitName, limitNames } from '../../../../src/admin/contract.ts';
import {
  type Document,
  isTrue,
  pick,
  present,
  section,
  toAmount,
  toChoice,
  toMapping,
  toMappings,
  toText,
  toTexts,
  without,
} from '../../parts/forms/documents.ts';
import { type PriceUnit, priceUnits } from '../../parts/words/prices.ts';

/** `standard`: no price is set, and the default applies. */
export type PriceKind = 'standard' | 'amounts' | 'free' | 'unknown';

export const factorNames = ['service_tier', 'speed', 'inference_geo'] as const;
type FactorName = (typeof factorNames)[number];

type PriceValues = Record<PriceUnit, string> & {
  kind: PriceKind;
  /** Each such as `web_search: 0.01`. */
  tools: string[];
  /** Each such as `priority: 2`. */
  factors: Record<FactorName, string[]>;
  /** A share of the price for batches. */
  batch: string;
  /** Other fields, such as prices of images by size. */
  rest: Document;
};

export interface TargetValues {
  upstream: string;
  model: string;
  priority: number | string;
  weight: number | string;
  bridge: string | null;
  unsupported: string | null;
  scores: string | null;
  price: PriceValues;
  max_items: number | string;
  max_tokens: number | string;
  max_bytes: string;
  /** The other fields of the document. */
  rest: Document;
}

interface BudgetValues {
  every: string;
  amount: string;
  rest: Document;
}

export interface ModelValues {
  id: string;
  aliases: string[];
  operations: string[];
  visible: boolean;
  space: string;
  scores: string | null;
  accepts_messages: boolean;
  /** True if `usage` is `ask`. */
  usage: boolean;
  shape: string | null;
  lane: string | null;
  pace: string;
  slo: { p95: string };
  targets: TargetValues[];
  balance: string | null;
  context: number | string;
  max_output: number | string;
  max_tool_calls: number | string;
  max_audio: string;
  dimensions: number | string;
  matryoshka: boolean;
  roles: { query: string; document: string };
  dedupe: boolean;
  cache: { on: boolean; ttl: string; scope: string | null; max: string; limits: string | null };
  coalesce: { on: boolean; window: string; max_items: number | string };
  /** Written only if a model is named. */
  shadow: { model: string; share: number | string };
  /** Written only if it has texts. */
  canary: { texts: string[]; every: string };
  retry: { scope: string | null; attempts: number | string; sameTarget: number | string };
  hedge: { after: string };
  price: PriceValues;
  limits: Record<LimitName, number | string>;
  budgets: BudgetValues[];
  rest: Document;
}

/** The name of the draft; the number changes when the type of the values changes. */
export const draftOf = (name: string): string => `model 3 ${name}`;

/** Fields that show the document's value unchanged, by type. */
const texts = ['id', 'space', 'max_audio', 'pace'] as const;
const choices = ['scores', 'shape', 'lane', 'balance'] as const;
const amounts = ['context', 'max_output', 'max_tool_calls', 'dimensions'] as const;
const flags = ['accepts_messages', 'matryoshka', 'dedupe'] as const;
/** All other fields of the form. */
const fuller = [
  ...['aliases', 'operations', 'visible', 'usage', 'targets', 'roles', 'cache', 'coalesce', 'shadow', 'canary'],
  ...['retry', 'hedge', 'slo', 'price', 'limits', 'budgets'],
];
const shown = [...texts, ...choices, ...amounts, ...flags, ...fuller];

const targetTexts = ['upstream', 'model', 'max_bytes'] as const;
const targetChoices = ['bridge', 'unsupported', 'scores'] as const;
const targetAmounts = ['max_items', 'max_tokens'] as const;
const shownOfTarget = [...targetTexts, ...targetChoices, ...targetAmounts, 'priority', 'weight', 'price'];

export const emptyTarget = (upstream = ''): TargetValues => toTargetValues({ upstream });

export function toValues(document: Document): ModelValues {
  const { cache, coalesce, shadow, canary } = document;
  return {
    ...pick(texts, document, toText),
    ...pick(choices, document, toChoice),
    ...pick(amounts, document, toAmount),
    ...pick(flags, document, isTrue),
    aliases: toTexts(document.aliases),
    operations: toTexts(document.operations),
    visible: document.visible !== false,
    usage: document.usage === 'ask',
    targets: toMappings(document.targets).map(toTargetValues),
    roles: pick(['query', 'document'], toMapping(document.roles), toText),
    cache: {
      on: cache !== undefined,
      ...pick(['ttl', 'max'], toMapping(cache), toText),
      ...pick(['scope', 'limits'], toMapping(cache), toChoice),
    },
    coalesce: {
      on: coalesce !== undefined,
      window: toText(toMapping(coalesce).window),
      max_items: toAmount(toMapping(coalesce).max_items),
    },
    shadow: { model: toText(toMapping(shadow).model), share: toAmount(toMapping(shadow).share) },
    canary: { texts: toTexts(toMapping(canary).texts), every: toText(toMapping(canary).every) },
    retry: toRetry(document.retry),
    hedge: pick(['after'], toMapping(document.hedge), toText),
    slo: pick(['p95'], toMapping(toMapping(document.slo).interactive), toText),
    price: toPriceValues(document.price),
    limits: pick(limitNames, toMapping(document.limits), toAmount),
    budgets: toMappings(document.budgets).map((budget) => ({
      ...pick(['every', 'amount'], budget, toText),
      rest: without(budget, ['every', 'amount']),
    })),
    rest: without(document, shown),
  };
}

const toTargetValues = (document: Document): TargetValues => ({
  ...pick(targetTexts, document, toText),
  ...pick(targetChoices, document, toChoice),
  ...pick(targetAmounts, document, toAmount),
  priority: toAmount(document.priority ?? 0),
  weight: toAmount(document.weight ?? 1),
  price: toPriceValues(document.price),
  rest: without(document, shownOfTarget),
});

function toRetry(retry: unknown): ModelValues['retry'] {
  const { scope, attempts, same_target } = typeof retry === 'string' ? { scope: retry } : toMapping(retry);
  return { scope: toChoice(scope), attempts: toAmount(attempts), sameTarget: toAmount(same_target) };
}

function toPriceValues(price: unknown): PriceValues {
  const written = toMapping(price);
  const amountsOf = pick(priceUnits, written, toText);
  const isAmounts = price !== undefined && price !== null;
  return {
    kind: price === 'free' || price === 'unknown' ? price : isAmounts ? 'amounts' : 'standard',
    ...amountsOf,
    tools: toPairs(written.tools),
    factors: pick(factorNames, toMapping(written.factors), toPairs),
    batch: toText(written.batch),
    // Prices without a field in the form, such as of images by size, are kept.
    rest: without(written, ['tools', 'factors', 'batch', ...priceUnits.filter((unit) => amountsOf[unit] !== '')]),
  };
}

const toPairs = (written: unknown): string[] =>
  Object.entries(toMapping(written)).map(([name, value]) => `${name}: ${toText(value)}`);

/** From `name: value`; without a value, the server's error names it. */
function fromPairs<T>(pairs: readonly string[], toValue: (text: string) => T): Record<string, T> {
  const entries = pairs.map((pair) => {
    const [name = '', ...value] = pair.split(':');
    return [name.trim(), toValue(value.join(':').trim())] as const;
  });
  return Object.fromEntries(entries);
}

/** A word stays a word, so that the server refuses it where it expects a number. */
const toNumber = (text: string): number | string => (text === '' || Number.isNaN(Number(text)) ? text : Number(text));

/** Leaves out empty fields, so that the document stays short. */
export function toDocument(values: ModelValues): Document {
  const { rest, id, aliases, operations, visible, usage, roles, targets, budgets } = values;
  const { cache, coalesce, shadow, canary, hedge } = values;
  const ofName = { ...values };
  return {
    ...rest,
    ...present(pick([...texts, ...choices, ...amounts], ofName, toAmount)),
    ...present(pick(flags, ofName, isTrue)),
    id: id.trim(),
    ...(aliases.length > 0 && { aliases }),
    ...(operations.length > 0 && { operations }),
    ...(!visible && { visible: false }),
    ...(usage && { usage: 'ask' }),
    // A prefix may end in white space.
    ...section('roles', Object.fromEntries(Object.entries(roles).filter(([, prefix]) => prefix !== ''))),
    targets: targets.map(toTargetDocument),
    ...(cache.on && { cache: present({ ...cache, on: false }) }),
    ...(coalesce.on && { coalesce: present({ ...coalesce, on: false }) }),
    ...(shadow.model.trim() !== '' && { shadow: present(shadow) }),
    ...(canary.texts.length > 0 && { canary: { texts: canary.texts, ...present({ every: canary.every }) } }),
    ...toRetryDocument(values.retry),
    ...section('hedge', present(hedge)),
    ...section('slo', section('interactive', present(values.slo))),
    ...toPriceDocument(values.price),
    ...section('limits', present(values.limits)),
    ...(budgets.length > 0 && {
      budgets: budgets.map((budget) => ({ ...budget.rest, every: budget.every, amount: budget.amount.trim() })),
    }),
  };
}

function toTargetDocument(target: TargetValues): Document {
  const { rest, upstream, priority, weight, price } = target;
  return {
    ...rest,
    ...present(pick([...targetTexts, ...targetChoices, ...targetAmounts], { ...target }, toAmount)),
    upstream,
    ...(priority !== '' && priority !== 0 && { priority }),
    ...(weight !== '' && weight !== 1 && { weight }),
    ...toPriceDocument(price),
  };
}

function toRetryDocument({ scope, attempts, sameTarget }: ModelValues['retry']): Document {
  if (attempts === '' && sameTarget === '') return scope === null ? {} : { retry: scope };
  return { retry: present({ scope, attempts, same_target: sameTarget }) };
}

function toPriceDocument(values: PriceValues): Document {
  if (values.kind === 'standard') return {};
  if (values.kind !== 'amounts') return { price: values.kind };
  const { kind: _, rest, tools, factors, ...written } = values;
  const factored = Object.entries(factors).filter(([, pairs]) => pairs.length > 0);
  return {
    price: {
      ...rest,
      ...present(written),
      ...section(
        'tools',
        fromPairs(tools, (amount) => amount),
      ),
      ...section('factors', Object.fromEntries(factored.map(([name, pairs]) => [name, fromPairs(pairs, toNumber)]))),
    },
  };
}

export interface Difference {
  readonly field: string;
  readonly mine: string;
  readonly theirs: string;
}

/** Field by field, for people to read: the differences of two documents. */
export function differencesOf(mine: Document, theirs: Document): Difference[] {
  const fields = [...new Set([...Object.keys(theirs), ...Object.keys(mine)])];
  return fields
    .map((field) => ({ field, mine: inWords(mine[field]), theirs: inWords(theirs[field]) }))
    .filter((one) => one.mine !== one.theirs);
}

const inWords = (value: unknown): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
