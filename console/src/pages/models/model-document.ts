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

export const factorNames = ['service_tier', 'speed', 'inference_geo'] as const;
type FactorName = (typeof factorNames)[number];

type PriceValues = Record<PriceUnit, string> & {
  kind: PriceKind;
  /** Each `web_search: 0.01`. */
  tools: string[];
  /** Each `priority: 2`. */
  factors: Record<FactorName, string[]>;
  /** A share of all that. */
  batch: string;
  /** What else is written of it, such as images by their size. */
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
  /** There is one where a model is named. */
  shadow: { model: string; share: number | string };
  /** There is one where it has texts. */
  canary: { texts: string[]; every: string };
  retry: { scope: string | null; attempts: number | string; sameTarget: number | string };
  hedge: { after: string };
  price: PriceValues;
  limits: Record<LimitName, number | string>;
  budgets: BudgetValues[];
  rest: Document;
}

/** Where drafts are kept; under another number where values come to have another shape. */
export const draftOf = (name: string): string => `model 2 ${name}`;

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
  tools: [],
  factors: { service_tier: [], speed: [], inference_geo: [] },
  batch: '',
  rest: {},
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
  max_items: '',
  max_tokens: '',
  max_bytes: '',
  rest: {},
});

/** A prefix may end in white space. */
function toRolesDocument({ query, document }: ModelValues['roles']): { roles?: Document } {
  if (query === '' && document === '') return {};
  return { roles: { ...(query !== '' && { query }), ...(document !== '' && { document }) } };
}

export function toValues(document: Document): ModelValues {
  const { id, aliases, operations, visible, space, accepts_messages, targets, balance, retry, hedge, price, ...more } =
    document;
  const { limits, budgets, shape, scores, usage, context, max_output, max_tool_calls, max_audio, ...others } = more;
  const { dimensions, matryoshka, roles, dedupe, cache, coalesce, shadow, canary, ...rest } = others;
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
    context: toAmount(context, ''),
    max_output: toAmount(max_output, ''),
    max_tool_calls: toAmount(max_tool_calls, ''),
    max_audio: toText(max_audio),
    dimensions: toAmount(dimensions, ''),
    matryoshka: matryoshka === true,
    roles: { query: toText(toMapping(roles).query), document: toText(toMapping(roles).document) },
    dedupe: dedupe === true,
    ...toListValues({ cache, coalesce, shadow, canary }),
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

function toListValues({ cache, coalesce, shadow, canary }: Document) {
  const { ttl, scope, max, limits } = toMapping(cache);
  const { window, max_items } = toMapping(coalesce);
  const { model, share } = toMapping(shadow);
  const { texts, every } = toMapping(canary);
  return {
    cache: {
      on: cache !== undefined,
      ttl: toText(ttl),
      scope: toText(scope) || null,
      max: toText(max),
      limits: toText(limits) || null,
    },
    coalesce: { on: coalesce !== undefined, window: toText(window), max_items: toAmount(max_items, '') },
    shadow: { model: toText(model), share: toAmount(share, '') },
    canary: { texts: toTexts(texts), every: toText(every) },
  };
}

function toTargetValues({ upstream, model, priority, weight, bridge, unsupported, scores, price, ...more }: Document) {
  const { max_items, max_tokens, max_bytes, ...rest } = more;
  return {
    max_items: toAmount(max_items, ''),
    max_tokens: toAmount(max_tokens, ''),
    max_bytes: toText(max_bytes),
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
  if (typeof retry === 'string') return { scope: retry, attempts: '', sameTarget: '' };
  const { scope, attempts, same_target } = toMapping(retry);
  return { scope: toText(scope) || null, attempts: toAmount(attempts, ''), sameTarget: toAmount(same_target, '') };
}

function toPriceValues(price: unknown): PriceValues {
  if (price === undefined || price === null) return { ...noPrice };
  if (price === 'free' || price === 'unknown') return { ...noPrice, kind: price };
  const { tools, factors, batch, ...written } = toMapping(price);
  const values: PriceValues = { ...noPrice, kind: 'amounts', tools: toPairs(tools), batch: toText(batch) };
  const { service_tier, speed, inference_geo } = toMapping(factors);
  values.factors = {
    service_tier: toPairs(service_tier),
    speed: toPairs(speed),
    inference_geo: toPairs(inference_geo),
  };
  values.rest = { ...written };
  for (const unit of priceUnits) {
    const amount = toText(written[unit]);
    values[unit] = amount;
    if (amount !== '') values.rest = without(values.rest, unit);
  }
  return values;
}

const without = (document: Document, name: string): Document =>
  Object.fromEntries(Object.entries(document).filter(([one]) => one !== name));

const toPairs = (written: unknown): string[] =>
  Object.entries(toMapping(written)).map(([name, value]) => `${name}: ${toText(value)}`);

/** Of `name: value`; without a value it is one that is refused by name. */
function fromPairs<T>(pairs: readonly string[], toValue: (text: string) => T): Record<string, T> {
  const entries = pairs.map((pair) => {
    const [name = '', ...value] = pair.split(':');
    return [name.trim(), toValue(value.join(':').trim())] as const;
  });
  return Object.fromEntries(entries);
}

/** A word stays one, and is refused where a number is wanted. */
const toNumber = (text: string): number | string => (text === '' || Number.isNaN(Number(text)) ? text : Number(text));

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
    ...present({
      context: values.context,
      max_output: values.max_output,
      max_tool_calls: values.max_tool_calls,
      max_audio: values.max_audio,
      dimensions: values.dimensions,
    }),
    ...(values.matryoshka && { matryoshka: true }),
    ...toRolesDocument(values.roles),
    targets: targets.map(toTargetDocument),
    ...toListDocument(values),
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

function toListDocument({ dedupe, cache, coalesce, shadow, canary }: ModelValues): Document {
  const { on: isRemembered, ...remembered } = cache;
  const { on: isJoined, ...joined } = coalesce;
  return {
    ...(dedupe && { dedupe: true }),
    ...(isRemembered && { cache: present(remembered) }),
    ...(isJoined && { coalesce: present(joined) }),
    ...(shadow.model.trim() !== '' && { shadow: present(shadow) }),
    ...(canary.texts.length > 0 && { canary: { texts: canary.texts, ...present({ every: canary.every }) } }),
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
  max_items,
  max_tokens,
  max_bytes,
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
    ...present({ max_items, max_tokens, max_bytes }),
    ...toPriceDocument(price),
  };
}

function toRetryDocument({ scope, attempts, sameTarget }: ModelValues['retry']): Document {
  if (attempts === '' && sameTarget === '') return scope === null ? {} : { retry: scope };
  return { retry: { ...(scope !== null && { scope }), ...present({ attempts, same_target: sameTarget }) } };
}

function toPriceDocument(values: PriceValues): Document {
  if (values.kind === 'standard') return {};
  if (values.kind !== 'amounts') return { price: values.kind };
  const { kind: _, rest, tools, factors, ...amounts } = values;
  const written = Object.entries(factors).filter(([, pairs]) => pairs.length > 0);
  return {
    price: {
      ...rest,
      ...present(amounts),
      ...(tools.length > 0 && { tools: fromPairs(tools, (amount) => amount) }),
      ...(written.length > 0 && {
        factors: Object.fromEntries(written.map(([name, pairs]) => [name, fromPairs(pairs, toNumber)])),
      }),
    },
  };
}

/** Without what was left empty. */
function present(values: Readonly<Record<string, number | string | null>>): Record<string, number | string> {
  const filled = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.trim() : (value ?? ''),
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
