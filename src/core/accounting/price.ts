/** Defines the price of a target: whole nano-dollars per million tokens or characters, or for one other unit. Unknown is undefined, never zero. */

import { recordOf } from '../../lib/record-of.ts';
import type { Units } from './units.ts';

export interface Price {
  /** Per million input tokens. */
  readonly input: number | undefined;
  /** Per million input tokens that the upstream had in its cache; the price of `input` applies where it is undefined. */
  readonly cachedInput: number | undefined;
  /** Per million input tokens that the upstream put into its cache; the price of `input` applies where it is undefined. */
  readonly cacheWrite: number | undefined;
  /** Per million output tokens. */
  readonly output: number | undefined;
  readonly searchUnit: number | undefined;
  readonly request: number | undefined;
  /** Per item: an input, or a document. */
  readonly item: number | undefined;
  /** Per generated image; where `pictures` has rows, the highest price in them. */
  readonly image: number | undefined;
  readonly pictures?: readonly PictureRate[] | undefined;
  /** Per minute of a recording; billed by the second. */
  readonly minute?: number | undefined;
  /** Per million characters of a text that is read aloud. */
  readonly character?: number | undefined;
  /** Per million tokens put into the cache for an hour; the price of `cacheWrite` applies where it is undefined. */
  readonly cacheWriteHour?: number | undefined;
  /** Per million input tokens of sound and of images; the price of `input` applies where it is undefined. */
  readonly audioInput?: number | undefined;
  readonly imageInput?: number | undefined;
  /** Per million output tokens of sound and of images; the price of `output` applies where it is undefined. */
  readonly audioOutput?: number | undefined;
  readonly imageOutput?: number | undefined;
  /** Per call of a hosted tool (one that the service runs itself), by the kind of tool. */
  readonly tools?: Readonly<Record<string, number>> | undefined;
  /** Factors by which terms of service change the token prices, in millionths. */
  readonly factors?: Factors | undefined;
  /** Percentage of the usual prices that is charged in a batch; 100 where undefined. */
  readonly batchPercent?: number | undefined;
}

/** Sources of a price that no operator set at a model: the built-in table, or an imported list. */
export const priceSources = ['table', 'imported'] as const;

export interface PictureRate {
  readonly size: string | undefined;
  readonly quality: string | undefined;
  readonly each: number;
}

/** The factor that leaves a price unchanged: factors are in millionths. */
export const oneFactor = 1_000_000;

/** Terms of service that change the price (how soon, how fast, where), in the service's words, as a request or an answer has them. */
export const termNames = ['serviceTier', 'speed', 'inferenceGeo'] as const;
export type Terms = Readonly<Partial<Record<(typeof termNames)[number], string>>>;
export type Factors = Readonly<Partial<Record<keyof Terms, Readonly<Record<string, number>>>>>;

/** Kinds of input tokens, each of which has its own price. */
export const inputUnits = ['input', 'cachedInput', 'cacheWrite', 'cacheWriteHour', 'audioInput', 'imageInput'] as const;
export const outputUnits = ['output', 'audioOutput', 'imageOutput'] as const;

export const unitsBesideTokens = ['searchUnit', 'request', 'item', 'image', 'minute', 'character'] as const;
export const priceUnits = [...inputUnits, ...outputUnits, ...unitsBesideTokens] as const;
export type PriceUnit = (typeof priceUnits)[number];

export interface HostedTools {
  readonly kinds: readonly string[];
  /** Upper bound of the calls of all tools together; undefined where unknown. */
  readonly most: number | undefined;
  /** Each tool is called exactly once, which no answer reports. */
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
  /** Size and quality of the images to be made; a field is undefined where the request leaves it to the service. */
  readonly picture?: Pick<PictureRate, 'size' | 'quality'>;
  readonly likelyInputTokens: number;
  readonly mostInputTokens: number;
  readonly mostOutputTokens: number;
  readonly mostSearchUnits: number;
  /** All items are in the gateway's cache: no call is made, and nothing is charged. */
  readonly isRemembered?: boolean;
  /** The request field that leaves the cost without an upper bound. */
  readonly unbounded?: string;
  /** The units whose use has no upper bound; all units where undefined. */
  readonly unboundedBy?: readonly PriceUnit[];
  /** Hosted tools that the request permits the service to run. */
  readonly tools?: HostedTools;
  /** Prices of further models that the request names, each with the field that names the model. */
  readonly others?: readonly OtherPrice[];
  /** Terms of service that the request asks for; the service decides about absent ones. */
  readonly terms?: Terms;
  readonly likelySeconds?: number;
  readonly mostSeconds?: number;
  readonly characters?: number;
  /** For images and sound: likely output tokens, where the answer reports none; the upper bound is used where this is undefined. */
  readonly likelyOutputTokens?: number;
  /** For completions: how many texts are requested for each prompt, where more than one. */
  readonly choices?: number;
  readonly isStream?: boolean;
  /** Set where the estimate covers all lines of a batch: all other figures are sums over its lines. */
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
  /** Some counts are estimates, because the upstream did not report all of them. */
  readonly isEstimated: boolean;
  readonly costNanos: number | null;
}

export const billCounts = ['inputTokens', 'cachedTokens', 'outputTokens', 'searchUnits', 'items', 'images'] as const;
