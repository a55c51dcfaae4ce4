/** What the page calls things. */

import {
  type Model,
  type ModelTarget,
  type Operation,
  operationRows,
  operations,
} from '../../../../src/admin/contract.ts';
import { shownState } from '../../parts/marks/shown-state.ts';
import { formatMoney, formatPriceDay } from '../../parts/words/format.ts';
import { operationWords, refusesHidden } from '../../parts/words/operations.ts';
import type { PriceUnit } from './model-document.ts';

export const unitWords: Readonly<Record<PriceUnit, string>> = {
  input: '1M input tokens',
  cached_input: '1M cached input tokens',
  cache_write: '1M input tokens put into the cache',
  cache_write_1h: '1M input tokens put there for an hour',
  audio_input: '1M input tokens of sound',
  image_input: '1M input tokens of images',
  output: '1M output tokens',
  audio_output: '1M output tokens of sound',
  image_output: '1M output tokens of images',
  search_unit: 'Search unit',
  request: 'Request',
  item: 'Input or document',
  image: 'Image',
  minute: 'Minute of a recording',
  character: '1M characters',
};

export const factorWords = {
  service_tier: { label: 'By how soon it answers', example: 'priority: 2' },
  speed: { label: 'By how fast it writes', example: 'fast: 6' },
  inference_geo: { label: 'By where it works', example: 'us: 1.1' },
} as const;

/** What it means for the clients of this model that lists do not show it. */
export function hiddenInWords({ operations: served }: Pick<Model, 'operations'>): string {
  const closed = served.filter(refusesHidden);
  const open = served.filter((operation) => !refusesHidden(operation));
  if (open.length === 0) return 'Hidden, it answers as if there were no such model.';
  const opens = `Hidden, lists leave it out, and ${inSeries(open)} still answer to its exact name.`;
  return closed.length === 0 ? opens : `${opens} On ${inSeries(closed)} it is as if there were no such model.`;
}

const inSeries = (served: readonly Operation[]): string => {
  const words = served.map((operation) => operationWords[operation].toLowerCase());
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
};

type Health = ModelTarget['health'];
const worstFirst: readonly Health[] = ['failing', 'resting', 'loading', 'probing', 'healthy', 'unknown'];

interface HealthWords {
  readonly state: ReturnType<typeof shownState<Health>>;
  /** Instead of the state's own word. */
  readonly label: string | undefined;
  /** Empty where there is nothing to say. */
  readonly why: string;
}

export function healthOf(targets: readonly ModelTarget[]): HealthWords {
  const called = targets.filter(({ weight }) => weight > 0);
  const bad = called.filter(({ health }) => health === 'failing' || health === 'resting');
  const why = bad.map(whyOf).join(' ');
  const state = worstFirst.find((one) => called.some(({ health }) => health === one)) ?? 'unknown';
  const isInPart = bad.length > 0 && bad.length < called.length;
  return {
    state: shownState(state, callsOf(targets)),
    label: isInPart ? `${bad.length} of ${called.length} unavailable` : undefined,
    why,
  };
}

/** "openai is in cooldown: connection refused." */
function whyOf({ upstream, nodes, health }: ModelTarget): string {
  const worst = nodes.find(({ state }) => state === health);
  const verb = health === 'resting' ? 'is in cooldown' : health === 'failing' ? 'fails' : 'is tried again';
  return `${upstream} ${verb}${worst?.why ? `: ${worst.why}` : ''}.`;
}

/** Over all nodes: one upstream's name for a model may stand there twice, and is called as one. */
export function callsOf(targets: readonly ModelTarget[]): { readonly calls: number; readonly failedCalls: number } {
  const nodes = targets.filter(({ weight }) => weight > 0).flatMap((target) => target.nodes);
  return {
    calls: nodes.reduce((sum, node) => sum + node.calls, 0),
    failedCalls: nodes.reduce((sum, node) => sum + node.failedCalls, 0),
  };
}

/** Empty where the name says nothing. */
export function operationsByName(name: string): readonly Operation[] {
  // A reranker is often named after the embedding model that it comes from, which is behind it in the list.
  const found = operations.find((operation) => operationRows[operation].namedLike?.test(name.toLowerCase()));
  return found === undefined ? [] : [found];
}

type Price = NonNullable<ModelTarget['price']>;
type Amounts = NonNullable<Price['amounts']>;

const units: readonly (readonly [keyof Amounts, string])[] = [
  ['input', 'per 1M input tokens'],
  ['cachedInput', 'per 1M cached tokens'],
  ['cacheWrite', 'per 1M tokens put into the cache'],
  ['cacheWriteHour', 'per 1M tokens put there for an hour'],
  ['audioInput', 'per 1M input tokens of sound'],
  ['imageInput', 'per 1M input tokens of images'],
  ['output', 'per 1M output tokens'],
  ['audioOutput', 'per 1M output tokens of sound'],
  ['imageOutput', 'per 1M output tokens of images'],
  ['searchUnit', 'per search unit'],
  ['request', 'per request'],
  ['item', 'per item'],
  ['image', 'per image'],
  ['minute', 'per minute'],
  ['character', 'per 1M characters'],
];

/** One for each unit that is billed; empty where it is free or not known. */
function amountsInWords(amounts: Amounts | null): string[] {
  if (amounts === null) return [];
  return units.flatMap(([unit, words]) => {
    const amount = amounts[unit];
    return amount === undefined || Number(amount) === 0 ? [] : [`${formatMoney(amount)} ${words}`];
  });
}

/** What a target costs, in words. */
export function priceInWords(price: Price | null): string {
  if (price === null) return 'Not in force yet';
  if (price.amounts === null) return 'Unknown';
  if (price.isFree) return 'Free';
  return amountsInWords(price.amounts).join(', ');
}

/** Who says so. */
export function sourceInWords(price: Price | null): string {
  if (price === null) return '';
  switch (price.source) {
    case 'target':
      return price.amounts === null ? 'Its target says that it is unknown.' : 'Set at its target.';
    case 'model':
      return price.amounts === null ? 'The model says that it is unknown.' : 'Set at the model.';
    case 'table': {
      const { listed } = price;
      if (listed === null) return 'From the table of prices.';
      const checked = listed.verified ? 'checked' : 'not checked since';
      return `From the table of prices, as of ${formatPriceDay(listed.asOf)}, ${checked}.`;
    }
    case 'imported': {
      const { listed } = price;
      return listed === null
        ? 'From imported prices.'
        : `From imported prices (${listed.source}), as of ${formatPriceDay(listed.asOf)}.`;
    }
    case 'inside':
      return 'It answers inside the gateway, and nobody sends a bill.';
    case 'unknown':
      return 'Nobody knows it; requests are counted without a cost. Set a price to count money.';
  }
}
