/** Serves moderations through the chat of a guard model, which answers `safe`, or `unsafe` with category codes. */

import type { Offers } from '../../core/family.ts';
import { Unfit } from '../../core/translation.ts';
import type { Json } from '../../lib/json/json-text.ts';
import {
  type Categories,
  llamaGuard1Categories,
  llamaGuard2Categories,
  llamaGuard3Categories,
} from '../wire-formats/moderations/moderation-categories.ts';
import { type Finding, type Judgement, translateModerations } from '../wire-formats/moderations/moderations.ts';
import { at, listIn, objectIn, textIn } from '../wire-formats/reading.ts';

/** Limit of the answer's tokens: enough for all existing codes, with a margin. */
const maxTokens = 100;
/** Tokens that the model's chat template adds to a text: published templates have up to about a thousand. */
const mostTemplateTokens = 2_000;

/** Sends only the text: the model's chat template adds the policy, and a client's parameters could only sway the verdict. */
const translation = translateModerations({
  limits: { items: 1 },
  own: [],
  isStrict: true,
  takesDefaults: true,
  write: ({ texts, model, more }) => ({
    body: {
      model,
      messages: [{ role: 'user', content: texts[0] ?? '' }],
      temperature: 0,
      max_tokens: maxTokens,
      ...more,
    },
  }),
  read({ body }, { model }) {
    const { choices, model: named, usage } = objectIn(body, 'the answer');
    const [choice] = listIn(choices, 'choices');
    if (at(choice, 'finish_reason') === 'length') throw new Unfit('the verdict was cut off');
    return {
      judgements: [toJudgement(at(choice, 'message', 'content'), model)],
      model: textIn(named),
      usage,
    };
  },
});

/** Matches only a complete verdict: a truncated one must never read as "safe". */
const verdict = /^(?:safe|unsafe(?:\s+(?<codes>[A-Z]\d{1,3}(?:\s*,\s*[A-Z]\d{1,3})*))?)$/;

function toJudgement(content: Json | undefined, model: string): Judgement {
  if (typeof content !== 'string') throw new Unfit('its message is no text');
  const read = verdict.exec(content.trim());
  if (read === null) throw new Unfit('it says neither safe nor unsafe');
  const codes = read.groups?.codes?.split(/\s*,\s*/) ?? [];
  const table = tableFor(codes, model);
  const findings = Object.entries(table).map(
    ([code, categories]): Finding => ({ categories, isFlagged: codes.includes(code) }),
  );
  // The offence may have a code that the table lacks, or none.
  const isUnsafe = read[0] !== 'safe';
  return { findings: [...findings, { categories: [], isFlagged: isUnsafe }], original: content };
}

/** The categories by code. Generations of the model have different codes, distinguished by the code's letter, or else by the model's name. */
function tableFor(codes: readonly string[], model: string): Categories {
  if (codes.some((code) => code.startsWith('O')) || /llama-?guard-7b/i.test(model)) return llamaGuard1Categories;
  return /guard-?2(?!\d)/i.test(model) ? llamaGuard2Categories : llamaGuard3Categories;
}

export function guardOffers(chat: string): Offers {
  return {
    openai: {
      moderations: {
        path: chat,
        translation,
        translatedBy: 'guard',
        addedTokens: { input: mostTemplateTokens, output: maxTokens },
        facts:
          'a call for each text; no scores, so 1 or 0; codes of Llama Guard 3 and 4, 2 and 1 by the name of the model',
      },
    },
  };
}
