/** A model as its form has it, and as the configuration's own words have it. What the form does not show stays as it is written. */

import { type LimitName, limitNames } from '../../../../src/admin/contract.ts';
import { isMapping } from '../../parts/forms/is-mapping.ts';

export type Document = Readonly<Record<string, unknown>>;

export const priceUnits = [
  'input',
  'cached_input',
  'cache_write',
  'cache_write_1h',
  'audio_input',
  'image_input',
  'output',
  'audio_output',
  'image_output',
  'search_unit',
  'request',
  'item',
  'image',
  'minute',
  'character',
] as const;
export type PriceUnit = (typeof priceUnits)[number];

/** `standard`: nothing is written, and whoever comes next is asked. */
export type PriceKind = 'standard' | 'amounts' | 'free' | 'unknown';
type PriceValues = { kind: PriceKind } & Record<PriceUnit, string>;

export interface TargetValues {
  upstream: string;
  model: string;
  priority: number | string;
  weight: number | string;
  bridge: string | null;
  unsupported: string | null;
  scores: string | null;
  price: PriceValues;
  /** What else is written of it. */
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
  /** Whether `usage` is `ask`. */
  usage: boolean;
  shape: string | null;
  targets: TargetValues[];
  balance: string | null;
  retry: { scope: string | null; attempts: number | string };
  hedge: { after: string };
  price: PriceValues;
  limits: Record<LimitName, number | string>;
  budgets: BudgetValues[];
  rest: Document;
}

const noPrice: PriceValues = {
  kind: 'standard',
  input: '',
  cached_input: '',
  cache_write: '',
  cache_write_1h: '',
  audio_input: '',
  image_input: '',
  output: '',
  audio_output: '',
  image_output: '',
  search_unit: '',
  request: '',
  item: '',
  image: '',
  minute: '',
  character: '',
};

export const emptyTarget = (upstream = ''): TargetValues => ({
  upstream,
  model: '',
  priority: 0,
  weight: 1,
  bridge: null,
  unsupported: null,
  scores: null,
  price: { ...noPrice },
  rest: {},
});

export function toValues(document: Document): ModelValues {
  const { id, aliases, operations, visible, space, accepts_messages, targets, balance, retry, hedge, price, ...more } =
    document;
  const { limits, budgets, shape, scores, usage, ...rest } = more;
  return {
    id: toText(id),
    aliases: toTexts(aliases),
    operations: toTexts(operations),
    visible: visible !== false,
    space: toText(space),
    scores: toText(scores) || null,
    accepts_messages: accepts_messages === true,
    usage: usage === 'ask',
    shape: toText(shape) || null,
    targets: toMappings(targets).map(toTargetValues),
    balance: toText(balance) || null,
    retry: toRetry(retry),
    hedge: { after: toText(toMapping(hedge).after) },
    price: toPriceValues(price),
    limits: toLimits(toMapping(limits)),
    budgets: toMappings(budgets).map(({ every, amount, ...other }) => ({
      every: toText(every),
      amount: toText(amount),
      rest: other,
    })),
    rest,
  };
}

function toTargetValues({ upstream, model, priority, weight, bridge, unsupported, scores, price, ...rest }: Document) {
  return {
    upstream: toText(upstream),
    model: toText(model),
    priority: toAmount(priority, 0),
    weight: toAmount(weight, 1),
    bridge: toText(bridge) || null,
    unsupported: toText(unsupported) || null,
    scores: toText(scores) || null,
    price: toPriceValues(price),
    rest,
  };
}

function toRetry(retry: unknown): ModelValues['retry'] {
  if (typeof retry === 'string') return { scope: retry, attempts: '' };
  const { scope, attempts } = toMapping(retry);
  return { scope: toText(scope) || null, attempts: toAmount(attempts, '') };
}

function toPriceValues(price: unknown): PriceValues {
  if (price === undefined || price === null) return { ...noPrice };
  if (price === 'free' || price === 'unknown') return { ...noPrice, kind: price };
  const written = toMapping(price);
  const values: PriceValues = { ...noPrice, kind: 'amounts' };
  for (const unit of priceUnits) values[unit] = toText(written[unit]);
  return values;
}

function toLimits(written: Document): ModelValues['limits'] {
  const values: Partial<ModelValues['limits']> = {};
  for (const name of limitNames) values[name] = toAmount(written[name], '');
  return values as ModelValues['limits'];
}

/** Only what says something: a document that someone reads stays short. */
export function toDocument(values: ModelValues): Document {
  const { rest, id, aliases, operations, visible, space, targets, balance, retry, hedge, limits, budgets } = values;
  const caps = present(limits);
  return {
    ...rest,
    id: id.trim(),
    ...(aliases.length > 0 && { aliases }),
    ...(operations.length > 0 && { operations }),
    ...(!visible && { visible: false }),
    ...(space.trim() !== '' && { space: space.trim() }),
    ...(values.scores !== null && { scores: values.scores }),
    ...(values.accepts_messages && { accepts_messages: true }),
    ...(values.usage && { usage: 'ask' }),
    ...(values.shape !== null && { shape: values.shape }),
    targets: targets.map(toTargetDocument),
    ...(balance !== null && { balance }),
    ...toRetryDocument(retry),
    ...(hedge.after.trim() !== '' && { hedge: { after: hedge.after.trim() } }),
    ...toPriceDocument(values.price),
    ...(Object.keys(caps).length > 0 && { limits: caps }),
    ...(budgets.length > 0 && {
      budgets: budgets.map((budget) => ({ ...budget.rest, every: budget.every, amount: budget.amount.trim() })),
    }),
  };
}

function toTargetDocument({
  upstream,
  model,
  priority,
  weight,
  bridge,
  unsupported,
  scores,
  price,
  rest,
}: TargetValues) {
  return {
    ...rest,
    upstream,
    ...(model.trim() !== '' && { model: model.trim() }),
    ...(priority !== '' && priority !== 0 && { priority }),
    ...(weight !== '' && weight !== 1 && { weight }),
    ...(bridge !== null && { bridge }),
    ...(unsupported !== null && { unsupported }),
    ...(scores !== null && { scores }),
    ...toPriceDocument(price),
  };
}

function toRetryDocument({ scope, attempts }: ModelValues['retry']): Document {
  if (attempts === '') return scope === null ? {} : { retry: scope };
  return { retry: { ...(scope !== null && { scope }), attempts } };
}

function toPriceDocument(values: PriceValues): Document {
  if (values.kind === 'standard') return {};
  if (values.kind !== 'amounts') return { price: values.kind };
  const { kind: _, ...amounts } = values;
  return { price: present(amounts) };
}

/** Without what was left empty. */
function present(values: Readonly<Record<string, number | string>>): Record<string, number | string> {
  const filled = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.trim() : value,
  ]);
  return Object.fromEntries(filled.filter(([, value]) => value !== ''));
}

function toText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function toTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(toText).filter((text) => text !== '') : [];
}

function toAmount(value: unknown, standard: number | string): number | string {
  return typeof value === 'number' || typeof value === 'string' ? value : standard;
}

function toMapping(value: unknown): Document {
  return isMapping(value) ? { ...value } : {};
}

function toMappings(value: unknown): Document[] {
  return Array.isArray(value) ? value.map(toMapping) : [];
}

export interface Difference {
  readonly field: string;
  readonly mine: string;
  readonly theirs: string;
}

/** Key by key, as people may read it: what one document says and the other does not. */
export function differencesOf(mine: Document, theirs: Document): Difference[] {
  const fields = [...new Set([...Object.keys(theirs), ...Object.keys(mine)])];
  return fields
    .map((field) => ({ field, mine: inWords(mine[field]), theirs: inWords(theirs[field]) }))
    .filter((one) => one.mine !== one.theirs);
}

const inWords = (value: unknown): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
