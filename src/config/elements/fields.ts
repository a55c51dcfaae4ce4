/** Defines the types of values in the configuration file; the message of each says what is expected. */

import * as z from 'zod';
import { lanes } from '../../core/lane.ts';
import { notBlank, unseen } from '../../core/model-name.ts';
import { operations } from '../../core/operations/index.ts';
import type { Snapshot } from '../../core/snapshot.ts';
import { rerankShapes } from '../../core/translation.ts';
import { toAddressRange } from '../../lib/addresses/address-range.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { parseDollars, toDollars } from '../../lib/money.ts';
import {
  durationPattern,
  fromBytes,
  fromMilliseconds,
  sizePattern,
  toBytes,
  toInstantMs,
  toMilliseconds,
} from '../../lib/quantities.ts';

/** For a setting that cannot change while the process runs: how to read it, and a text on what a change affects. */
export interface Restart {
  readonly text: string;
  readonly read: (snapshot: Snapshot) => unknown;
}

export const atStart = (read: Restart['read'], text = 'Takes effect at a restart.'): Restart => ({ text, read });

export function isRestart(value: unknown): value is Restart {
  return isMapping(value) && typeof value.read === 'function';
}

declare module 'zod' {
  /** Metadata of a key, besides its type and description; `restart` is kept apart, because Zod cannot resolve its type. */
  interface GlobalMeta {
    /** True where messages must never repeat the value. */
    readonly secret?: boolean;
    /** Set where the field names a file: the key whose value the file holds. */
    readonly holds?: string;
    /** The kind of value as documentation calls it, where its JSON type and the schema do not say enough. */
    readonly kind?: string;
    /** The default as documentation describes it, where it depends on something. */
    readonly defaultText?: string;
  }
}

export function shapeField(description: string) {
  return oneOf(rerankShapes).optional().describe(description).meta({ defaultText: 'what the request says' });
}

export function laneField(description: string) {
  return oneOf(lanes).optional().describe(description).meta({ defaultText: '`interactive`' });
}

const wantedNames = 'names of 1 to 64 letters, digits, dots, underscores and dashes';
const metadataName = text(wantedNames, /^[A-Za-z0-9._-]{1,64}$/);
const metadataText = text('text of up to 512 characters, without control characters', /^[^\p{Cc}\p{Cs}]{0,512}$/u);

export const metadata = () =>
  z
    .record(metadataName, metadataText, {
      error: ({ code }) => (code === 'invalid_key' ? wantedNames : 'a mapping of names to texts'),
    })
    .meta({ kind: 'names to texts' });

export const notes = metadata().optional().describe('Your own notes; used by `postern resources apply --prune`.');

export const fromEnvironment = `Use the environment: \`\${NAME}\`.`;

/** Longest duration: a timer fires immediately when it is set to more than 2^31 - 1 ms. */
const longestMs = 24 * 86_400_000;

/** A text with a unit, such as `30s`: parsed to a number within bounds. */
function quantity(
  wants: string,
  pattern: RegExp,
  parse: (text: string) => number | undefined,
  { from, to, error }: { readonly from: number; readonly to: number; readonly error: string },
) {
  return z
    .string({ error: wants })
    .regex(pattern, { error: wants })
    .transform((text) => parse(text) ?? Number.NaN)
    .pipe(z.number({ error }).min(from, { error }).max(to, { error }));
}

export function duration(from = 1, to = longestMs) {
  const error = `a time from ${fromMilliseconds(from)} to ${fromMilliseconds(to)}`;
  const wants = 'a time with its unit, such as 500ms, 30s, 5m or 1h';
  return quantity(wants, durationPattern, toMilliseconds, { from, to, error }).meta({ kind: 'time' });
}

export function size(from: number, to: number) {
  const error = `a size from ${fromBytes(from)} to ${fromBytes(to)}`;
  const wants = 'a size with its unit, such as 512B, 32KiB or 32MiB';
  return quantity(wants, sizePattern, toBytes, { from, to, error }).meta({ kind: 'size' });
}

export function share(from: number, to = 100) {
  const error = `a percentage from ${from}% to ${to}%`;
  return quantity(error, /^\d{1,3}%$/, Number.parseInt, { from, to, error })
    .transform((percent) => ({ percent }))
    .meta({ kind: 'percentage' });
}

export function fraction() {
  const error = 'a number from 0 to 1, such as 0.01';
  return z.number({ error }).min(0, { error }).max(1, { error }).meta({ kind: 'number from 0 to 1' });
}

/** The result is in nano-dollars. */
export function dollars(fromNanos: number, toNanos: number) {
  const wants = 'an amount in US dollars, without a currency, such as 12.50';
  const between = `an amount from ${toDollars(fromNanos)} to ${toDollars(toNanos)} in US dollars`;
  return z.union([z.number(), z.string()], { error: wants }).transform((written, { addIssue }) => {
    const text = typeof written === 'number' ? decimalOf(written) : written;
    const [, sign, decimals = ''] = /^(-?)(?:0|[1-9]\d*)(?:\.(\d+))?$/.exec(text) ?? [];
    const nanos = parseDollars(text);
    if (nanos !== undefined && nanos >= fromNanos && nanos <= toNanos) return nanos;
    const isPrecise = sign === '' && decimals.length > 9;
    addIssue({ code: 'custom', message: sign === undefined ? wants : isPrecise ? 'at most nine decimals' : between });
    return z.NEVER;
  });
}

/** The result is in millionths. */
export function factor(most: number) {
  const error = `a number from 0 to ${most} with at most six decimals, such as 1.5`;
  return z
    .number({ error })
    .min(0, { error })
    .max(most, { error })
    .transform((written, { addIssue }) => {
      const millionths = Math.round(written * 1_000_000);
      if (millionths / 1_000_000 === written) return millionths;
      addIssue({ code: 'custom', message: error });
      return z.NEVER;
    });
}

/** A number in decimal notation, without an exponent even where it is small. */
function decimalOf(number: number): string {
  const text = String(number);
  return text.includes('e-') ? number.toFixed(20).replace(/0+$/, '') : text;
}

export function wholeNumber(from: number, to: number) {
  const error = `a whole number from ${from} to ${to}`;
  return z.int({ error }).min(from, { error }).max(to, { error });
}

export function flag() {
  return z.boolean({ error: 'true or false' });
}

export function oneOf<const T extends readonly [string, ...string[]]>(names: T) {
  return z.enum(names, { error: names.length === 1 ? names[0] : `one of ${names.join(', ')}` });
}

export function text(wants: string, pattern = /^[^\x00-\x1f\x7f]+$/) {
  return z.string({ error: wants }).regex(pattern, { error: wants });
}

/** An ID that the operator chooses; it is used in headers, log lines and URLs of the console. */
export function ownId() {
  return text('up to 64 letters, digits, dots, underscores and dashes', /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
}

export function modelName() {
  return text(
    '1 to 256 visible characters, no space at either end',
    new RegExp(String.raw`${notBlank}(?!\s)[^\p{Cc}\p{Cs}${unseen}]{1,256}(?<!\s)$`, 'u'),
  );
}

export const displayNameWanted = 'text of 1 to 100 visible characters';

export const displayName = () =>
  text(displayNameWanted, new RegExp(String.raw`${notBlank}[^\p{Cc}\p{Cs}${unseen}]{1,100}$`, 'u'));

export const wantedCredential = 'visible ASCII characters, without spaces and line breaks';

export const isCredential = (written: string): boolean => /^[\x21-\x7e]+$/.test(written);

export function urlPath() {
  return text('a path that begins with /, such as /health', /^\/[\x21\x22\x24-\x7e]*$/);
}

export function filePath() {
  return text('the path of a file', /^[^\x00]+$/).meta({ kind: 'file' });
}

/** A field with the name of a file that has the secret, instead of the key `name`. */
export function secretFile(name: string) {
  return filePath().optional().describe(`File with \`${name}\`; watched for changes.`).meta({ holds: name });
}

/** A point in time: a date is the beginning of its day in UTC, and a time of day needs its zone. */
export function instant() {
  const wants = 'a date such as 2027-01-31, or a time with its zone such as 2027-01-31T12:00:00Z';
  return z
    .string({ error: wants })
    .regex(/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/, { error: wants })
    .transform((written) => toInstantMs(written) ?? Number.NaN)
    .pipe(z.number({ error: wants }))
    .meta({ kind: 'date or time' });
}

/** A list. `wants`: what messages say is expected, such as `a list of names`; documentation uses it as the kind. */
export function list<T extends z.ZodType>(element: T, wants = 'a list') {
  const array = z.array(element, { error: wants });
  return wants === 'a list' ? array : array.meta({ kind: wants.slice('a '.length) });
}

/** A secret in visible ASCII, so that it fits in a header; `fewest`: its least length. */
export function secretText(fewest: number) {
  return text(
    `at least ${fewest} visible ASCII characters, without spaces`,
    new RegExp(`^[\\x21-\\x7e]{${fewest},512}$`),
  );
}

export function url(wants: string, pattern: RegExp) {
  return text(wants, pattern).refine((written) => URL.canParse(written), { error: 'a valid URL' });
}

export function headers() {
  return z
    .record(z.string(), z.string({ error: 'text' }).meta({ secret: true }), {
      error: 'a mapping of header names to values',
    })
    .default({});
}

export function addressList() {
  const error = 'an IP address or a CIDR range, such as 10.0.0.0/8 or ::1';
  return list(
    text(error).refine((written) => toAddressRange(written) !== undefined, { error }),
    'a list of IP addresses and CIDR ranges',
  ).meta({ kind: 'list of addresses' });
}

export function mapping<T extends z.ZodRawShape>(shape: T) {
  return z.strictObject(shape, { error: 'a mapping of keys to values' });
}

export function operationList() {
  return list(oneOf(operations), `a list of ${operations.join(', ')}`)
    .min(1, { error: 'at least one' })
    .meta({ kind: 'list of operations' });
}
