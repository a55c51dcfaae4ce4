/** Parses LiteLLM's price file: dollars per token, second or query, by model. */

import { isMapping } from '../../lib/is-mapping.ts';
import { nanosPerDollar } from '../../lib/money.ts';
import { highestPrice, type PriceAmounts, type PriceColumn, type PriceRow } from '../../prices/imported.ts';
import { providerNamed } from '../import/providers.ts';

interface LeftOut {
  readonly line: number;
  readonly name: string;
  readonly why: string;
}

export interface PriceReading {
  readonly rows: readonly PriceRow[];
  readonly leftOut: readonly LeftOut[];
  /** Names of price keys that Postern cannot bill, each with the imported models that have it. */
  readonly ignored: ReadonlyMap<string, readonly string[]>;
}

interface Rate {
  readonly column: PriceColumn;
  /** Units per price: LiteLLM's is for one unit, ours for this many. */
  readonly times: number;
}

const million = 1_000_000;
const perMillion = (column: PriceColumn): Rate => ({ column, times: million });

const tokenRates: Readonly<Record<string, Rate>> = {
  input_cost_per_token: perMillion('input'),
  output_cost_per_token: perMillion('output'),
  cache_read_input_token_cost: perMillion('cached_input'),
  cache_creation_input_token_cost: perMillion('cache_write'),
  cache_creation_input_token_cost_above_1hr: perMillion('cache_write_1h'),
  input_cost_per_audio_token: perMillion('audio_input'),
  output_cost_per_audio_token: perMillion('audio_output'),
  input_cost_per_image_token: perMillion('image_input'),
  output_cost_per_image_token: perMillion('image_output'),
};

interface Mode {
  readonly rates: Readonly<Record<string, Rate>>;
  /** Groups of columns; a model needs a price in one column of each group to be billed. */
  readonly needs: readonly (readonly PriceColumn[])[];
}

const text: Mode = { rates: tokenRates, needs: [['input'], ['output']] };
const input: Mode = { rates: tokenRates, needs: [['input']] };
/** Prices of image models. Two keys for one column are names for the same price, and the higher one is used. */
const images: Mode = {
  rates: {
    ...tokenRates,
    input_cost_per_image: { column: 'image', times: 1 },
    output_cost_per_image: { column: 'image', times: 1 },
  },
  needs: [['image', 'output', 'image_output']],
};

const modes: Readonly<Record<string, Mode>> = {
  chat: text,
  completion: text,
  responses: text,
  embedding: input,
  moderation: input,
  rerank: {
    rates: { ...tokenRates, input_cost_per_query: { column: 'search_unit', times: 1 } },
    needs: [['input', 'search_unit']],
  },
  image_generation: images,
  image_edit: images,
  audio_transcription: {
    rates: {
      ...tokenRates,
      input_cost_per_second: { column: 'minute', times: 60 },
      output_cost_per_second: { column: 'minute', times: 60 },
    },
    needs: [['input', 'minute']],
  },
  audio_speech: {
    rates: { ...tokenRates, input_cost_per_character: perMillion('character') },
    needs: [['character', 'input', 'output', 'audio_output']],
  },
};

/** Provider names that only the price file uses, and the service that each stands for. */
const furtherProviders: readonly (readonly [names: RegExp, service: string])[] = [
  [/^vertex_ai-/, 'vertex'],
  [/^bedrock_converse$/, 'bedrock'],
  // It has its own address, with other prices.
  [/^codestral$/, ''],
];

/** The family or host of a provider; undefined where Postern does not know the name. */
function serviceOf(provider: string): string | undefined {
  const further = furtherProviders.find(([names]) => names.test(provider))?.[1];
  if (further !== undefined) return further === '' ? undefined : further;
  const known = providerNamed(provider);
  return known?.baseUrl === undefined ? known?.family : URL.parse(known.baseUrl)?.hostname;
}

type Taken = { readonly row: PriceRow; readonly others: readonly string[] } | { readonly why: string };

/** Reads the price file. `isService`: whether the prices of a family apply at the address of its maker. */
export function readLitellmPrices(
  entries: Readonly<Record<string, unknown>>,
  source: string,
  isService: (service: string) => boolean,
): PriceReading {
  const lineOf = createLines(source);
  const rows = new Map<string, PriceRow>();
  const leftOut: LeftOut[] = [];
  const ignored = new Map<string, string[]>();
  for (const [name, entry] of Object.entries(entries)) {
    if (name === 'sample_spec') continue;
    const line = lineOf(name);
    const taken = toRow(name, entry, line, isService);
    if ('why' in taken) {
      leftOut.push({ line, name, why: taken.why });
      continue;
    }
    const { row } = taken;
    const key = `${row.service} ${row.model}`;
    const first = rows.get(key);
    if (first === undefined) rows.set(key, row);
    else if (JSON.stringify(first.amounts) !== JSON.stringify(row.amounts)) {
      leftOut.push({ line, name, why: 'another entry has a different price for the same model' });
      continue;
    }
    for (const other of taken.others) ignored.set(other, [...(ignored.get(other) ?? []), name]);
  }
  return { rows: [...rows.values()], leftOut, ignored };
}

function toRow(name: string, entry: unknown, line: number, isService: (service: string) => boolean): Taken {
  if (!isMapping(entry)) return { why: 'it is no mapping of keys to values' };
  const { litellm_provider: provider, mode = 'chat' } = entry;
  if (typeof provider !== 'string') return { why: 'it has no litellm_provider' };
  const service = serviceOf(provider);
  if (service === undefined) return { why: `there is no family for ${provider}` };
  if (!service.includes('.') && !isService(service)) {
    return { why: `${service} runs at your own addresses; set price at the model` };
  }
  const found = typeof mode === 'string' && Object.hasOwn(modes, mode) ? modes[mode] : undefined;
  if (found === undefined) return { why: `nothing is billed here as the mode ${JSON.stringify(mode)}` };
  const model = modelOf(name, service);
  if (/\d-x-\d/.test(model)) return { why: 'it is for one size of images; set price.image at the model' };
  const isRegional = (service === 'azure' || service === 'bedrock') && model.includes('/');
  if (isRegional) return { why: 'it is for one region or commitment; set price at the model' };
  return priced({ service, model, line }, entry, found);
}

function modelOf(name: string, service: string): string {
  const [first = '', ...rest] = name.split('/');
  return rest.length > 0 && serviceOf(first) === service ? rest.join('/') : name;
}

function priced(
  names: Omit<PriceRow, 'amounts'>,
  entry: Readonly<Record<string, unknown>>,
  { rates, needs }: Mode,
): Taken {
  const amounts: PriceAmounts = {};
  const others: string[] = [];
  for (const [key, value] of Object.entries(entry)) {
    const rate = Object.hasOwn(rates, key) ? rates[key] : undefined;
    if (rate === undefined) {
      if (isPrice(key) && value !== 0 && value !== null) others.push(key);
      continue;
    }
    if (value === null) continue;
    const nanos = toNanos(value, rate);
    if (nanos === undefined) return { why: `${key} is ${JSON.stringify(value)}, which is no price in dollars` };
    amounts[rate.column] = Math.max(nanos, amounts[rate.column] ?? 0);
  }
  // Some rerankers repeat the token's price as the query's.
  if (amounts.input !== undefined && entry.input_cost_per_query === entry.input_cost_per_token)
    delete amounts.search_unit;
  if (Object.values(amounts).every((nanos) => nanos === 0)) {
    return {
      why:
        Object.keys(amounts).length === 0
          ? 'it has no price that there is here'
          : 'its price is 0, which may be free or unknown',
    };
  }
  const lacking = needs.find((columns) => columns.every((column) => amounts[column] === undefined));
  return lacking === undefined
    ? { row: { ...names, amounts }, others }
    : { why: `it has no price for ${lacking.join(' or ')}` };
}

const isPrice = (key: string): boolean => /(^|_)(cost|pricing)(_|$)/.test(key);

/** A price in nano-dollars, rounded; numbers may be written as text. Undefined where it is no price. */
function toNanos(value: unknown, { times }: Rate): number | undefined {
  const dollars = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof dollars !== 'number' || !(dollars >= 0)) return undefined;
  const nanos = Math.round(dollars * times * nanosPerDollar);
  return nanos <= highestPrice * nanosPerDollar ? nanos : undefined;
}

/** Returns a function that finds the line of a name's entry; it searches from the previous entry on. */
function createLines(source: string): (name: string) => number {
  let line = 1;
  let read = 0;
  return (name) => {
    const at = source.indexOf(`${JSON.stringify(name)}:`, read);
    if (at < 0) return line;
    for (let next = source.indexOf('\n', read); next >= 0 && next < at; next = source.indexOf('\n', read)) {
      line += 1;
      read = next + 1;
    }
    return line;
  };
}
