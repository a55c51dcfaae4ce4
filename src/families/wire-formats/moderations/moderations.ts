/** Translates moderations between OpenAI's and other formats: inputs to texts, calls of a fitting size, verdicts in OpenAI's categories. */

import { countsCharacters } from '../../../core/believable.ts';
import {
  type Asked,
  type KnownLimits,
  limitsFor,
  type Reply,
  type Translation,
  Unfit,
  type WireAnswer,
  type WireRequest,
} from '../../../core/translation.ts';
import {
  isJsonList,
  isJsonObject,
  type Json,
  JsonNumber,
  type JsonObject,
  numberOf,
} from '../../../lib/json/json-text.ts';
import { inSlices } from '../../../lib/time-slices.ts';
import { toConversation } from '../conversation.ts';
import { furtherOf, type ParameterRules } from '../parameters.ts';
import { toUsage } from '../token-usage.ts';
import { type OpenaiCategory, openaiCategories } from './moderation-categories.ts';

interface ModerationCall {
  readonly texts: readonly string[];
  readonly isSingle: boolean;
  readonly model: string;
  /** Further parameters: the wire format's own, and unknown ones where they may pass. */
  readonly more: JsonObject;
  readonly asked: Asked;
}

export interface Finding {
  /** OpenAI's categories for it; empty where there is none, but the finding still counts for `flagged`. */
  readonly categories: readonly OpenaiCategory[];
  readonly isFlagged: boolean;
  /** Score between 0 and 1; a number from the upstream keeps its digits. Without a score, 1 where flagged and else 0. */
  readonly score?: JsonNumber | number | undefined;
}

export interface Judgement {
  readonly findings: readonly Finding[];
  /** The upstream's judgement in its own words. */
  readonly original: Json;
}

interface ModerationResult {
  readonly judgements: readonly Judgement[];
  readonly model?: string | undefined;
  readonly usage?: Json | undefined;
}

export interface ModerationWireFormat extends ParameterRules {
  readonly limits?: KnownLimits;
  /** The operator's defaults override what the client sends. */
  readonly takesDefaults?: boolean;
  write(call: ModerationCall): WireRequest;
  /** Reads an answer. Throws `Unfit`. */
  read(answer: WireAnswer, call: ModerationCall): ModerationResult;
}

export function translateModerations(wireFormat: ModerationWireFormat): Translation {
  return {
    ...(wireFormat.limits !== undefined && { limits: wireFormat.limits }),
    ask(asked) {
      const more = parametersOf(asked, wireFormat);
      const { texts, isSingle } = textsOf(asked);
      const { items: most } = limitsFor(wireFormat.limits, asked.model, asked.options);
      if (texts.length === 0 && most === 1) throw asked.refusal('input', 'wants one text at the least');
      const call: ModerationCall = { texts, isSingle, model: asked.model, more, asked };
      return toConversation(wireFormat.write(call), (answer) => toReply(readResult(wireFormat, call, answer), asked));
    },
  };
}

export function scoreIn(value: Json | undefined): JsonNumber {
  if (!(value instanceof JsonNumber)) throw new Unfit('a score is no number');
  if (value.value >= 0 && value.value <= 1) return value;
  throw new Unfit('a score is not between 0 and 1');
}

function parametersOf(asked: Asked, wireFormat: ModerationWireFormat): JsonObject {
  const set: JsonObject = wireFormat.takesDefaults ? asked.defaults : {};
  const isSet = (name: string, value: Json): boolean => Object.hasOwn(set, name) && set[name] === value;
  const isHandled = (name: string, value: Json) => name === 'input' || name === 'model' || isSet(name, value);
  return { ...furtherOf(asked, wireFormat, isHandled), ...set };
}

/** The texts to judge: a text, each text of a list, or all texts of a list of parts together. */
function textsOf(asked: Asked): { texts: readonly string[]; isSingle: boolean } {
  const { input } = asked.body;
  if (typeof input === 'string') return { texts: [input], isSingle: true };
  if (!isJsonList(input)) throw asked.refusal('input', 'takes a text, a list of texts or a list of parts');
  if (input.some((item) => isJsonObject(item))) return { texts: [joinedText(input, asked)], isSingle: true };
  const texts = input.map((item, index) => {
    if (typeof item === 'string') return item;
    throw asked.refusal(`input[${index}]`, 'takes text only');
  });
  return { texts, isSingle: false };
}

/** Joins the text of parts. A part without text is always refused, as it would pass unmoderated. */
function joinedText(parts: readonly Json[], asked: Asked): string {
  const texts = parts.map((part, index) => {
    if (isJsonObject(part) && part.type === 'text' && typeof part.text === 'string') return part.text;
    throw asked.refusal(`input[${index}]`, 'judges text only, in parts as {"type":"text","text":"..."}');
  });
  return texts.join('\n');
}

function readResult(wireFormat: ModerationWireFormat, call: ModerationCall, answer: WireAnswer): ModerationResult {
  const result = wireFormat.read(answer, call);
  const { length } = result.judgements;
  if (length !== call.texts.length) throw new Unfit(`${length} results for ${call.texts.length} inputs`);
  return result;
}

async function toReply(
  { judgements, usage, model: named }: ModerationResult,
  { id, model, options }: Asked,
): Promise<Reply> {
  const counted = isJsonObject(usage) ? usage : undefined;
  return {
    body: {
      id: `modr-${id}`,
      model: named ?? model,
      results: await inSlices(judgements, toResult),
      // Character counts are withheld: the client pays for tokens.
      usage: countsCharacters(options) ? undefined : counted,
    },
    usage: counted === undefined ? null : toUsage(counted),
  };
}

function toResult({ findings, original }: Judgement): JsonObject {
  const found = new Map<OpenaiCategory, { isFlagged: boolean; score: JsonNumber | number }>();
  for (const { categories, isFlagged, score = isFlagged ? 1 : 0 } of findings) {
    for (const category of categories) {
      const other = found.get(category);
      found.set(category, {
        isFlagged: isFlagged || other?.isFlagged === true,
        score: other !== undefined && heightOf(other.score) >= heightOf(score) ? other.score : score,
      });
    }
  }
  return {
    flagged: findings.some(({ isFlagged }) => isFlagged),
    categories: ofEach((category) => found.get(category)?.isFlagged ?? false),
    category_scores: ofEach((category) => found.get(category)?.score ?? 0),
    // The list is empty for categories that were not examined.
    category_applied_input_types: ofEach((category) => (found.has(category) ? ['text'] : [])),
    original,
  };
}

const ofEach = (valueFor: (category: OpenaiCategory) => Json): JsonObject =>
  Object.fromEntries(openaiCategories.map((category) => [category, valueFor(category)]));

const heightOf = (score: JsonNumber | number): number => numberOf(score) ?? 0;
