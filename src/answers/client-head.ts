/** Headers of an answer towards the client: all but framing, revealing and commanding headers. */

import { Buffer } from 'node:buffer';
import { commandsLoading, type HeaderList, whyWithheld } from '../core/answer-headers.ts';
import type { Answer } from '../core/outcome.ts';
import { listedTokens } from '../wire/fields.ts';
import type { Framing } from '../wire/server-answer.ts';

/** A header name as spelled, classified once. */
interface JudgedName {
  readonly lower: string;
  readonly isWithheld: boolean;
}

/** The same names come with every answer; further ones are classified each time. */
const mostJudged = 2_000;
const longestJudged = 100;
const judged = new Map<string, JudgedName>();

function judgeName(name: string): JudgedName {
  const known = judged.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  const judgement = { lower, isWithheld: whyWithheld(lower) !== undefined };
  if (judged.size < mostJudged && name.length <= longestJudged) judged.set(name, judgement);
  return judgement;
}

interface HeaderRules {
  readonly framing: Framing;
  /** The upstream's rate headers would contradict our own. */
  readonly hasOwnRates?: boolean;
  /** The operator's list; undefined: all that may pass. */
  readonly listed: HeaderList | undefined;
}

/** The end-to-end headers of an answer, in its order and spelling, as lines of a head; its request ID gets another name. */
export function clientLines(raw: readonly string[], rules: HeaderRules): string {
  const named = connectionTokens(raw);
  let lines = '';
  for (let i = 0; i < raw.length; i += 2) {
    const value = raw[i + 1] ?? '';
    const name = passingName(raw[i] ?? '', value, rules, named);
    if (name !== undefined) lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

/** Of heads that differ in the announced length alone. */
interface KnownLines extends HeaderRules {
  /** Around the length. */
  readonly before: string;
  readonly behind: string;
}

/** The lines of an answer that arrived whole, of the announced length. */
export function wholeLines(
  { headers, headMemo }: Pick<Answer, 'headers' | 'headMemo'>,
  length: number,
  rules: HeaderRules,
): string {
  // Written below alone.
  const known = headMemo?.made as KnownLines | undefined;
  const isKnown = known?.listed === rules.listed && known?.hasOwnRates === rules.hasOwnRates;
  const lines = known !== undefined && isKnown ? known : readLines(headers, rules);
  if (headMemo !== undefined) headMemo.made = lines;
  return lines.before + length + lines.behind;
}

function readLines(raw: readonly string[], rules: HeaderRules): KnownLines {
  const at = raw.findIndex((text, index) => index % 2 === 0 && judgeName(text).lower === 'content-length');
  const [before = '', behind = ''] = clientLines(raw.with(at + 1, lengthMark), rules).split(lengthMark);
  return { ...rules, before: flat(before), behind: flat(behind) };
}

/** No header holds it. */
const lengthMark = '\0';

/** Text that is made of parts is put together each time that it is written. */
const flat = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

/** The name under which a header passes; undefined where it does not. */
function passingName(
  name: string,
  value: string,
  { framing, hasOwnRates = false, listed }: HeaderRules,
  named: Set<string> | undefined,
): string | undefined {
  const { lower, isWithheld } = judgeName(name);
  // Framing is the gateway's own, whatever `Connection` or a header list contains.
  if (lower === 'content-length') return framing === 'length' ? name : undefined;
  if (isWithheld || named?.has(lower) || (listed !== undefined && !listed.has(lower))) return undefined;
  if (hasOwnRates && lower.startsWith('x-ratelimit-')) return undefined;
  if (lower === 'link' && commandsLoading(value)) return undefined;
  if (lower === 'x-request-id') return 'x-upstream-request-id';
  return lower !== 'trailer' || framing === 'chunked' ? name : undefined;
}

/** Trailers follow the same rules, and never include framing. */
export function clientTrailers(raw: readonly string[], listed: HeaderList | undefined): string {
  return clientLines(raw, { framing: 'none', listed });
}

/** Headers named by `Connection` are for one hop only. */
function connectionTokens(raw: readonly string[]): Set<string> | undefined {
  let tokens: Set<string> | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]?.length !== 10 || raw[i]?.toLowerCase() !== 'connection') continue;
    const value = (raw[i + 1] ?? '').toLowerCase();
    if (value === 'keep-alive' || value === 'close') continue;
    tokens ??= new Set();
    for (const token of listedTokens(value)) tokens.add(token);
  }
  return tokens;
}
