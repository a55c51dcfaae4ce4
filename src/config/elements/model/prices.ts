/** Parses prices in the configuration, and decides which applies to a target: its own, its model's, a price list's, or none. */

import * as z from 'zod';
import { type Factors, type Price, unitsBesideTokens } from '../../../core/accounting/price.ts';
import type { Upstream } from '../../../core/snapshot.ts';
import { nanosPerDollar } from '../../../lib/money.ts';
import { recordOf } from '../../../lib/record-of.ts';
import { highestPrice, type ImportedPrices, priceOf } from '../../../prices/imported.ts';
import { listedPrice } from '../../../prices/listed.ts';
import { dollars, factor, list, mapping, oneOf, share, text } from '../fields.ts';

const amount = dollars(0, highestPrice * nanosPerDollar);

const rate = (what: string) => amount.optional().describe(what).meta({ kind: 'amount' });

const word = (example: string) => text(`a word such as ${example}`, /^[\x21-\x7e]{1,40}$/).optional();

const pictureRate = mapping({
  size: word('1024x1024').describe('As requests and answers spell it; any where it is left out.'),
  quality: word('high').describe('Likewise.'),
  price: amount.describe('US dollars for each of them.').meta({ kind: 'amount' }),
});

const toolKind = /^[a-z][a-z0-9_]{0,63}$/;
const toolKindWords = 'a kind of tool in small letters, such as web_search';

const priceMapping = mapping({
  input: rate('US dollars per million input tokens.'),
  cached_input: rate("The same, read from the upstream's cache; default `input`."),
  cache_write: rate('The same, written to its cache; default `input`.'),
  cache_write_1h: rate('The same, kept there for an hour; default `cache_write`.'),
  audio_input: rate('The same for audio; default `input`.'),
  image_input: rate('The same for images; default `input`.'),
  output: rate('US dollars per million output tokens.'),
  audio_output: rate('The same for audio; default `output`.'),
  image_output: rate('The same for images; default `output`.'),
  search_unit: rate('US dollars per search unit of a reranker.'),
  request: rate('US dollars per request.'),
  item: rate('US dollars per input, prompt or document.'),
  image: imageRates(),
  minute: rate('US dollars per minute of audio, billed by the second.'),
  character: rate('US dollars per million characters of speech.'),
  tools: z
    .record(z.string().regex(toolKind, { error: toolKindWords }), amount, {
      error: ({ code }) =>
        code === 'invalid_key' ? toolKindWords : 'a mapping of kinds of tools to amounts in US dollars',
    })
    .optional()
    .describe('US dollars per call of a tool that the service runs, such as `web_search: 0.01`.')
    .meta({ kind: 'mapping of amounts' }),
  factors: mapping({
    service_tier: wordFactors('Service tier, such as `priority: 2` and `flex: 0.5`.'),
    speed: wordFactors('Speed, such as `fast: 6`.'),
    inference_geo: wordFactors('Region, such as `us: 1.1`.'),
  })
    .optional()
    .describe('Factors of token prices, by what the response reports.'),
  batch: share(0).optional().describe('Percentage of the price for batch lines.').meta({ defaultText: '100%' }),
}).refine(({ batch, factors, ...written }) => Object.values(written).some((amount) => amount !== undefined), {
  error: 'at least one price; or free, or unknown',
  when: ({ issues }) => issues.length === 0,
});

function wordFactors(what: string) {
  const error = 'a mapping of words of the service to factors, such as priority: 2';
  return z
    .record(z.string().regex(/^[\x21-\x7e]{1,64}$/, { error: 'a word of the service' }), factor(100), { error })
    .optional()
    .describe(what)
    .meta({ kind: 'mapping of factors' });
}

function imageRates() {
  const wants = 'an amount in US dollars, or a list of mappings with price, and size or quality or both';
  return z
    .union([amount, list(pictureRate, wants).min(1, { error: wants }).max(100, { error: 'at most 100' })], {
      error: wants,
    })
    .optional()
    .describe('US dollars per image, or a list by size and quality.')
    .meta({ kind: 'amount or list of mappings' });
}

export const priceField = (subject: string, defaultText: string) =>
  z
    .union([priceMapping, oneOf(['free', 'unknown'])], { error: 'a mapping of prices, free or unknown' })
    .optional()
    .describe(`${subject} With \`unknown\`, requests are counted without a cost.`)
    .meta({ kind: 'mapping, `free` or `unknown`', defaultText });

type WrittenPrice = z.output<typeof priceMapping> | 'free' | 'unknown';

const free: Price = Object.freeze(
  recordOf(['input', 'cachedInput', 'cacheWrite', 'output', ...unitsBesideTokens] as const, () => 0),
);

/** The price of a target. `isMadeHere`: the gateway answers by itself, so that nobody charges for it. */
export function toPrice(
  written: WrittenPrice | undefined,
  upstream: Pick<Upstream, 'family' | 'origin'>,
  model: string,
  isMadeHere: boolean,
  imported?: ImportedPrices,
): Price | undefined {
  if (written === 'unknown') return undefined;
  if (written === 'free') return free;
  if (written !== undefined) return fromMapping(written);
  return isMadeHere ? free : listedPrice(upstream.family, upstream.origin, model, imported);
}

function fromMapping({ image, tools, factors, batch, ...rates }: z.output<typeof priceMapping>): Price {
  return Object.freeze({
    ...priceOf(rates),
    ...toPictureRates(image),
    ...(tools && { tools }),
    ...(factors && { factors: toFactors(factors) }),
    ...(batch && { batchPercent: batch.percent }),
  });
}

function toFactors(written: NonNullable<z.output<typeof priceMapping>['factors']>): Factors {
  return Object.freeze({
    ...(written.service_tier && { serviceTier: written.service_tier }),
    ...(written.speed && { speed: written.speed }),
    ...(written.inference_geo && { inferenceGeo: written.inference_geo }),
  });
}

/** The prices of pictures. `image` is the highest one, which is reserved while it is unknown which row will apply. */
function toPictureRates(written: z.output<typeof priceMapping>['image']): Pick<Price, 'image' | 'pictures'> {
  if (typeof written !== 'object') return { image: written };
  const pictures = written.map(({ size, quality, price }) => Object.freeze({ size, quality, each: price }));
  return { image: Math.max(...pictures.map(({ each }) => each)), pictures: Object.freeze(pictures) };
}
