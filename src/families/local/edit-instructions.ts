/** Reads the instructions that `local/echo` follows on `/v1/edits`: which wordings it accepts, and what each does. */

import { Refusal } from './fields.ts';

export type Edit = (text: string) => string;

interface Instruction {
  readonly wording: RegExp;
  readonly edit: Edit;
}

const eachLine = (text: string, edit: (lines: string[]) => string[]): string => edit(text.split(/\r?\n/)).join('\n');
const firstLetters = /(?<![\p{L}\p{M}\p{N}'’])\p{L}/gu;
const upperCase: Edit = (text) => text.toUpperCase();

/** The accepted instructions. Where two match at the same position, the earlier row wins. */
const instructions: readonly Instruction[] = [
  {
    wording: /\bupper[ -]?cased?\b|\b(?:in|to|into|all) (?:all )?(?:caps|capitals|capital letters)\b/i,
    edit: upperCase,
  },
  { wording: /\blower[ -]?cased?\b|\bsmall letters\b/i, edit: (text) => text.toLowerCase() },
  {
    wording: /\btitle[ -]?case\b|\bcapitali[sz]e (?:the first letter of )?(?:each|every|all|the)(?: the)? words?\b/i,
    edit: (text) => text.toLowerCase().replace(firstLetters, upperCase),
  },
  { wording: /\bcapitali[sz]e\b|\bsentence[ -]?case\b/i, edit: (text) => text.replace(/\p{L}/u, upperCase) },
  {
    wording: /\btrim\b|\bstrip\b|\b(?:remove|delete) (?:the |all )?(?:leading|trailing|surrounding|outer) /i,
    edit: (text) => text.trim(),
  },
  {
    wording: /\breverse (?:the )?(?:order of )?(?:the |all )?words?\b/i,
    edit: (text) => eachLine(text, (lines) => lines.map((line) => line.split(/(\s+)/).reverse().join(''))),
  },
  // Sorted by code unit: the same in every locale.
  { wording: /\bsort\b|\balphabeti[sz]e\b/i, edit: (text) => eachLine(text, (lines) => lines.sort()) },
  {
    wording: /\breverse (?:the )?(?:order of )?(?:the |all )?lines?\b|\b(?:reverse|descending) order\b/i,
    edit: (text) => eachLine(text, (lines) => lines.reverse()),
  },
  {
    wording: /\bdedup|\b(?:remove|delete|drop) (?:the |all |any )?(?:duplicate|duplicated|duplicates|repeated)\b/i,
    edit: (text) => eachLine(text, (lines) => [...new Set(lines)]),
  },
];

const quoted = `(?:["“„]([^"“”]*)["“”]|['‘]([^'‘’]*)['‘’]|\`([^\`]*)\`)`;
const replacement = new RegExp(
  `\\b(?:replace|change) (?:all |every |each )?${quoted} (?:with|by|to|into) ${quoted}`,
  'gi',
);
const negation = /\b(?:not|never|without|except|don['’]?t)\b/i;

const maxInstructionCharacters = 2_000;

/** The recognised edits, in the order of the instruction's text; empty where there are none. */
export function readInstruction(instruction: string, maxCharacters: number): readonly Edit[] {
  if (instruction.length > maxInstructionCharacters) return [];
  const found: { at: number; edit: Edit }[] = [];
  const others = instruction.replace(replacement, (match: string, ...groups: unknown[]) => {
    const [from = '', to = ''] = groups.slice(0, 6).filter((group) => typeof group === 'string');
    const at = groups.find((group) => typeof group === 'number') ?? 0;
    found.push({ at, edit: (text) => replaceAll(text, from, to, maxCharacters) });
    // Blanks of the same length keep positions comparable, without words that match.
    return ' '.repeat(match.length);
  });
  if (negation.test(others)) return [];
  for (const { wording, edit } of instructions) {
    const at = others.search(wording);
    if (at !== -1 && !found.some((other) => other.at === at)) found.push({ at, edit });
  }
  return found.sort((first, second) => first.at - second.at).map(({ edit }) => edit);
}

function replaceAll(text: string, from: string, to: string, maxCharacters: number): string {
  if (from === '') return text;
  const parts = text.split(from);
  if (text.length + (parts.length - 1) * (to.length - from.length) > maxCharacters) {
    throw new Refusal(
      'invalid_value',
      'instruction',
      `The edited text would be longer than ${maxCharacters} characters; replace less, or edit a part of the text.`,
    );
  }
  return parts.join(to);
}
