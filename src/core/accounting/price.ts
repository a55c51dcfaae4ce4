/** The price of a target in whole nano-dollars per million tokens or characters, or per single other unit. Unknown is undefined, never zero. */

import { recordOf } from '../../lib/record-of.ts';
import type { Units } from './units.ts';

export interface Price {
  /** Per million input tokens. */
  readonly input: number | undefined;
  /** Per million input tokens that the upstream had in its cache; as `input` where it is undefined. */
  readonly cachedInput: number | undefined;
  /** Per million input tokens that the upstream put into its cache; as `input` where it is undefined. */
  readonly cacheWrite: number | undefined;
  /** Per million output tokens. */
  readonly output: number | undefined;
  /** Per search unit. */
  readonly searchUnit: number | undefined;
  readonly request: number | undefined;
  /** Per input or document. */
  readonly item: number | undefined;
  /** Per image made; the price of the dearest row of `pictures`, if there are any. */
  readonly image: number | undefined;
  readonly pictures?: readonly PictureRate[] | undefined;
  /** Per minute of a recording; billed by the second. */
  readonly minute?: number | undefined;
  /** Per million characters read aloud. */
  readonly character?: number | undefined;
  /** Per million tokens put into the cache for an hour; as `cacheWrite` where it is undefined. */
  readonly cacheWriteHour?: number | undefined;
  /** Per million input tokens of sound and of images; as `input` where it is undefined. */
  readonly audioInput?: number | undefined;
  readonly imageInput?: number | undefined;
  /** Per million output tokens of sound and of images; as `output` where it is undefined. */
  readonly audioOutput?: number | undefined;
  readonly imageOutput?: number | undefined;
  /** Per call of a hosted tool (one that the service runs itself), by its kind. */
  readonly tools?: Readonly<Record<string, number>> | undefined;
  /** Factors of the token prices, in millionths. */
  readonly factors?: Factors | undefined;
  /** Share of the prices charged in a batch; 100 where undefined. */
  readonly batchPercent?: number | undefined;
}

/** Sources of a price that no operator set at a model: the built-in table, or an imported list. */
export const priceSources = ['table', 'imported'] as const;

/** An undefined field matches any value. */
export interface PictureRate {
  readonly size: string | undefined;
  readonly quality: string | undefined;
  readonly each: number;
}

/** A factor of one. */
export const oneFactor = 1_000_000;

/** Terms of service that a request asks for or an answer reports: how soon, how fast, where. Each in the service's own words. */
export const termNames = ['serviceTier', 'speed', 'inferenceGeo'] as const;
export type Terms = Readonly<Partial<Record<(typeof termNames)[number], string>>>;
export type Factors = Readonly<Partial<Record<keyof Terms, Readonly<Record<string, number>>>>>;

/** Each has its own price. */
export const inputUnits = ['input', 'cachedInput', 'cacheWrite', 'cacheWriteHour', 'audioInput', 'imageInput'] as const;
export const outputUnits = ['output', 'audioOutput', 'imageOutput'] as const;

export const unitsBesideTokens = ['searchUnit', 'request', 'item', 'image', 'minute', 'character'] as const;
export const priceUnits = [...inputUnits, ...outputUnits, ...unitsBesideTokens] as const;
export type PriceUnit = (typeof priceUnits)[number];

export interface HostedTools {
  /** By their names in prices. */
  readonly kinds: readonly string[];
  /** Upper bound of the calls of all tools together; undefined where unknown. */
  readonly most: number | undefined;
  /** Exactly one call of each, which no answer reports. */
  readonly areSure?: true;
}

interface OtherPrice {
  readonly param: string;
  readonly price: Price | undefined;
}

/** What a request may use, as far as it can be estimated before the call. */
export interface RequestEstimate {
  /** Inputs, prompts or documents; 1 where the request is no list. */
  readonly items: number;
  readonly images: number;
  /** Of the pictures to be made; a field is undefined where the request leaves it to the service. */
  readonly picture?: Pick<PictureRate, 'size' | 'quality'>;
  readonly likelyInputTokens: number;
  /** Upper bound for any tokenizer. */
  readonly mostInputTokens: number;
  readonly mostOutputTokens: number;
  readonly mostSearchUnits: number;
  /** All items are in the cache: no call is made, and nothing is charged. */
  readonly isRemembered?: boolean;
  /** The request field that leaves the cost without an upper bound. */
  readonly unbounded?: string;
  /** Only prices of these units are unbounded; all where undefined. */
  readonly unboundedBy?: readonly PriceUnit[];
  /** Hosted tools that it may run. */
  readonly tools?: HostedTools;
  /** Prices of other models that may take part, each with the field that names it. */
  readonly others?: readonly OtherPrice[];
  /** Terms of service that it asks for; what is absent is left to the service. */
  readonly terms?: Terms;
  /** Of recordings. */
  readonly likelySeconds?: number;
  readonly mostSeconds?: number;
  /** Of a text to be read aloud. */
  readonly characters?: number;
  /** Pictures and sound: the likely count of the answer, where none is reported; the upper bound where undefined. */
  readonly likelyOutputTokens?: number;
  /** Completions: how many texts are asked for, where more than one. */
  readonly choices?: number;
  readonly isStream?: boolean;
  /** It covers all lines of a batch, or an answered one: all other figures are sums of its lines. */
  readonly batch?: BatchSize;
}

const summedFigures = [
  'items',
  'images',
  'likelyInputTokens',
  'mostInputTokens',
  'mostOutputTokens',
  'mostSearchUnits',
] as const;

export const estimateOfEach = (of: (name: (typeof summedFigures)[number]) => number) => recordOf(summedFigures, of);

export const forNothing: RequestEstimate = Object.freeze({ ...estimateOfEach(() => 0), isStream: false });

export interface BatchSize {
  /** The path of the route that each line asks for. */
  readonly path: string;
  readonly lines: number;
}

export interface Bill {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly searchUnits: number;
  readonly items: number;
  readonly images: number;
  readonly units?: Units | undefined;
  /** Some figures are estimates, as the upstream did not report all. */
  readonly isEstimated: boolean;
  /** Null where the price is unknown. */
  readonly costNanos: number | null;
}

export const billCounts = ['inputTokens', 'cachedTokens', 'outputTokens', 'searchUnits', 'items', 'images'] as const;
