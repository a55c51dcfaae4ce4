/** Writes the headers of an upstream's answer for the client, without those that frame it, reveal secrets, or command the client's software. */

import { Buffer } from 'node:buffer';
import { commandsLoading, type HeaderList, whyWithheld } from '../core/answer-headers.ts';
import type { Answer } from '../core/outcome.ts';
import { listedTokens } from '../wire/fields.ts';
import type { Framing } from '../wire/server-answer.ts';

/** A header name in lower case, and whether it is withheld from clients; computed once per spelling. */
interface JudgedName {
  readonly lower: string;
  readonly isWithheld: boolean;
}

/** Limits of the remembered names. Answers mostly repeat the same names; beyond the limit a name is judged each time. */
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
  /** True where Postern sends rate limit headers of its own, which the upstream's would contradict. */
  readonly hasOwnRates?: boolean;
  /** The header names that the operator lets pass; undefined: all that may pass. */
  readonly listed: HeaderList | undefined;
}

/** The answer's end-to-end headers as lines of a head, in its order and spelling; its request ID gets another name. `length`: sent as the body's. */
export function clientLines(raw: readonly string[], rules: HeaderRules, length?: number | string): string {
  const named = connectionTokens(raw);
  let lines = '';
  for (let i = 0; i < raw.length; i += 2) {
    lines += passingLine(raw[i] ?? '', raw[i + 1] ?? '', rules, named, length);
  }
  return lines;
}

/** The written lines of a head, remembered for heads that differ from it only in the announced length. */
interface KnownLines extends HeaderRules {
  /** The lines before the announced length; below it, those after. */
  readonly before: string;
  readonly behind: string;
}

/** The head's lines for an answer that arrived completely, with its length. */
export function wholeLines(
  { headers, headMemo }: Pick<Answer, 'headers' | 'headMemo'>,
  length: number,
  rules: HeaderRules,
): string {
  if (headMemo === undefined) return clientLines(headers, rules, length);
  // Only this function stores something there.
  const known = headMemo.made as KnownLines | undefined;
  const isKnown = known?.listed === rules.listed && known?.hasOwnRates === rules.hasOwnRates;
  const lines = known !== undefined && isKnown ? known : readLines(headers, rules);
  headMemo.made = lines;
  return lines.before + length + lines.behind;
}

function readLines(raw: readonly string[], rules: HeaderRules): KnownLines {
  const [before = '', behind = ''] = clientLines(raw, rules, lengthMark).split(lengthMark);
  return { ...rules, before: flat(before), behind: flat(behind) };
}

/** Marks where the length belongs in the lines; no header contains it. */
const lengthMark = '\0';

/** Copies a text into one piece: V8 would otherwise join its parts anew each time that the text is written. */
const flat = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

/** The line of a header for the client; empty where it does not pass. */
function passingLine(
  name: string,
  value: string,
  { framing, hasOwnRates = false, listed }: HeaderRules,
  named: Set<string> | undefined,
  length: number | string = value,
): string {
  const { lower, isWithheld } = judgeName(name);
  // Framing is the gateway's own, whatever `Connection` or a header list contains.
  if (lower === 'content-length') return framing === 'length' ? `${name}: ${length}\r\n` : '';
  if (isWithheld || named?.has(lower) || (listed !== undefined && !listed.has(lower))) return '';
  if (hasOwnRates && lower.startsWith('x-ratelimit-')) return '';
  if (lower === 'link' && commandsLoading(value)) return '';
  if (lower === 'x-request-id') return `x-upstream-request-id: ${value}\r\n`;
  return lower !== 'trailer' || framing === 'chunked' ? `${name}: ${value}\r\n` : '';
}

/** Writes trailers for the client, by the same rules as headers; they never include headers that frame the body. */
export function clientTrailers(raw: readonly string[], listed: HeaderList | undefined): string {
  return clientLines(raw, { framing: 'none', listed });
}

/** The header names in `Connection`, which concern one connection only and are not passed on. */
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
