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
  /** Each. */
  readonly searchUnit: number | undefined;
  readonly request: number | undefined;
  /** Per input or document. */
  readonly item: number | undefined;
  /** Of a picture that is made, that of the dearest row of `pictures` where there are any. */
  readonly image: number | undefined;
  /** By what a picture is. */
  readonly pictures?: readonly PictureRate[] | undefined;
  /** Of a recording; billed by the second. */
  readonly minute?: number | undefined;
  /** Per million characters that are read aloud. */
  readonly character?: number | undefined;
  /** Of the input tokens that were put into the cache, those that stay for an hour; as `cacheWrite` where it is undefined. */
  readonly cacheWriteHour?: number | undefined;
  /** Per million input tokens of sound and of images; as `input` where it is undefined. */
  readonly audioInput?: number | undefined;
  readonly imageInput?: number | undefined;
  /** Per million output tokens of these; as `output` where it is undefined. */
  readonly audioOutput?: number | undefined;
  readonly imageOutput?: number | undefined;
  /** Each call of a tool that the service runs itself, by its kind. */
  readonly tools?: Readonly<Record<string, number>> | undefined;
  /** By what tokens are multiplied, in millionths. */
  readonly factors?: Factors | undefined;
  /** Of all that, in a batch; all of it where it is undefined. */
  readonly batchPercent?: number | undefined;
}

/** Where a price comes from that no operator wrote at a model: the built-in table, or an imported list. */
export const priceSources = ['table', 'imported'] as const;

/** What is undefined fits any. */
export interface PictureRate {
  readonly size: string | undefined;
  readonly quality: string | undefined;
  readonly each: number;
}

/** A factor of one. */
export const oneFactor = 1_000_000;

/** What a service is asked for, or says of its answer: how soon, how fast, where. Each in its own words. */
export const termNames = ['serviceTier', 'speed', 'inferenceGeo'] as const;
export type Terms = Readonly<Partial<Record<(typeof termNames)[number], string>>>;
export type Factors = Readonly<Partial<Record<keyof Terms, Readonly<Record<string, number>>>>>;

/** Of each there is a price by itself. */
export const inputUnits = ['input', 'cachedInput', 'cacheWrite', 'cacheWriteHour', 'audioInput', 'imageInput'] as const;
export const outputUnits = ['output', 'audioOutput', 'imageOutput'] as const;

/** What a price can be of. */
export type PriceUnit = Exclude<keyof Price, 'pictures' | 'batchPercent' | 'factors' | 'tools'>;

export interface HostedTools {
  /** As prices call them. */
  readonly kinds: readonly string[];
  /** How many calls there can be of all of them together; undefined where nothing says so. */
  readonly most: number | undefined;
  /** There is one of each, and no answer says so. */
  readonly areSure?: true;
}

interface OtherPrice {
  readonly param: string;
  readonly price: Price | undefined;
}

/** What a request asks for, as far as it can be told beforehand. */
export interface RequestEstimate {
  /** Inputs, prompts or documents; 1 where it is no list. */
  readonly items: number;
  readonly images: number;
  /** Pictures that are made: what the request says of them; undefined where it leaves it to the service. */
  readonly picture?: Pick<PictureRate, 'size' | 'quality'>;
  /** What the input will likely count. */
  readonly likelyInputTokens: number;
  /** What the input can count at most, whatever the tokenizer. */
  readonly mostInputTokens: number;
  /** What the answer can count at most. */
  readonly mostOutputTokens: number;
  readonly mostSearchUnits: number;
  /** All of it is remembered: nobody is asked, and nothing is paid. */
  readonly isRemembered?: boolean;
  /** The field because of which there is no saying what it costs at most. */
  readonly unbounded?: string;
  /** Only prices of these; of any where it does not say. */
  readonly unboundedBy?: readonly PriceUnit[];
  /** Of tools that the service runs itself; undefined where it is to run none. */
  readonly tools?: HostedTools;
  /** Of other models that may take part in it: what they cost, and the field that names each. */
  readonly others?: readonly OtherPrice[];
  /** What it says of how it is to be served; what is not in it is left to the service. */
  readonly terms?: Terms;
  /** Of recordings: what they likely last, and at most. */
  readonly likelySeconds?: number;
  readonly mostSeconds?: number;
  /** Of a text that is read aloud. */
  readonly characters?: number;
  /** Pictures and sound: what the answer will likely count, where nobody says; as many as it can where it does not say. */
  readonly likelyOutputTokens?: number;
  /** Completions: how many texts are asked for, where more than one. */
  readonly choices?: number;
  /** Completions: the answer is wanted as a stream of events. */
  readonly isStream?: boolean;
  /** It stands for all lines of a batch, or for one that was answered: all other figures are of them together. */
  readonly batch?: BatchSize;
}

/** Those of its figures that a batch adds up. */
const summedFigures = [
  'items',
  'images',
  'likelyInputTokens',
  'mostInputTokens',
  'mostOutputTokens',
  'mostSearchUnits',
] as const;

/** Figures of an estimate, each made by its name. */
export const estimateOfEach = (of: (name: (typeof summedFigures)[number]) => number) => recordOf(summedFigures, of);

export const forNothing: RequestEstimate = Object.freeze({ ...estimateOfEach(() => 0), isStream: false });

export interface BatchSize {
  /** Where each of its lines asks: the path of a route. */
  readonly path: string;
  readonly lines: number;
}

/** What an exchange is billed by. */
export interface Bill {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly searchUnits: number;
  readonly items: number;
  readonly images: number;
  /** What else it is billed by; undefined where there is nothing. */
  readonly units?: Units | undefined;
  /** The upstream did not say, or not all: some of these are estimates. */
  readonly isEstimated: boolean;
  /** In nano-dollars; null where the price is not known. */
  readonly costNanos: number | null;
}

/** Those of its fields that are whole numbers. */
export const billCounts = ['inputTokens', 'cachedTokens', 'outputTokens', 'searchUnits', 'items', 'images'] as const;
