/** Families with OpenAI's wire format, or nearly: one row of facts each, from which the rest derives. */

import {
  bearer,
  defineFamily,
  type Family,
  type ModelList,
  type Offer,
  type Offers,
  type Options,
} from '../../core/family.ts';
import type { Operation } from '../../core/operations/index.ts';
import type { Translation } from '../../core/translation.ts';
import { type OpenaiCompletionFacts, openaiCompletions } from './completions/openai-completions.ts';
import { type OpenaiEmbeddingFacts, openaiEmbeddings } from './embeddings/openai-embeddings.ts';
import { openaiModelList } from './model-lists.ts';
import { type StandardRerankFacts, standardRerank } from './rerank/standard-rerank.ts';

/** For people. */
interface Said {
  readonly facts: string;
}

/** Absent facts are as with OpenAI. An operation without facts is not offered. */
interface CompatibleFacts extends Omit<Family, 'offers' | 'chat' | 'bridges' | 'failureIn' | 'modelList'> {
  /** What is before each path under the base URL, which `versions` has too; or what converts a path. */
  readonly at?: string | ((path: string, options: Options) => string);
  /** Or its path, where it has OpenAI's shape. */
  readonly modelList?: ModelList | string;
  readonly completions?: OpenaiCompletionFacts & Said;
  readonly embeddings?: OpenaiEmbeddingFacts & Said;
  readonly rerank?: StandardRerankFacts & Said;
  /** It has chat without completions; a family with completions has chat as well. */
  readonly hasChat?: true;
  /** Offers in formats of its own. */
  own?(options: Options): Readonly<Partial<Record<Operation, Offer>>>;
  /** Under other labels. */
  others?(options: Options): Offers;
}

export function openaiCompatible({
  at = (path) => path,
  modelList,
  completions,
  embeddings,
  rerank,
  hasChat,
  own,
  others,
  ...rest
}: CompatibleFacts): Family {
  const pathOf = typeof at === 'string' ? (path: string): string => at + path : at;
  function offers(options: Options): Offers {
    return {
      ...others?.(options),
      openai: {
        ...(completions !== undefined && {
          completions: offer(pathOf('/completions', options), toCompletions(completions), completions),
        }),
        ...(embeddings !== undefined && {
          embeddings: offer(pathOf('/embeddings', options), toEmbeddings(embeddings, options), embeddings),
        }),
        ...(rerank !== undefined && { rerank: offer(pathOf('/rerank', options), standardRerank(rerank), rerank) }),
        ...own?.(options),
      },
    };
  }
  return defineFamily({
    auth: bearer(),
    errors: {},
    failureIn,
    ...(typeof at === 'string' && { versions: [at] }),
    ...(modelList !== undefined && {
      modelList: typeof modelList === 'string' ? openaiModelList(modelList) : modelList,
    }),
    ...rest,
    ...((hasChat === true || completions !== undefined) && {
      chat: (options: Options) => pathOf('/chat/completions', options),
    }),
    offers,
  });
}

function offer(path: string, translation: Translation | undefined, { facts }: Said): Offer {
  return { path, ...(translation !== undefined && { translation }), facts };
}

/** Without a differing fact, bytes pass. */
function toCompletions(facts: OpenaiCompletionFacts): Translation | undefined {
  return facts.onePromptACall || facts.misreadsTokens ? openaiCompletions(facts) : undefined;
}

/** Embedding inputs in a changed request are for the upstream to validate, as in an unchanged one. */
function toEmbeddings(facts: OpenaiEmbeddingFacts, options: Options): Translation {
  return openaiEmbeddings({ takesObjects: true, ...facts }, options);
}

/** Detects an error sent with status 200, as proxies in front of a model do, and its real status. */
const errorObject = '{"error":{';
const statusInError = /"(?:code|status)"\s*:\s*"?([45]\d\d)\b/;
const [openBrace, quote, letterE] = Buffer.from(errorObject);
/** An answer that is no error shows it in its first characters. */
const lookedAtBytes = 64;

/** The real status of `{"error":{"code":502,...}}` under a 200. */
export function failureIn(beginning: Buffer, isWhole: boolean): number | 'unclear' | undefined {
  // Most answers show it in three bytes: `{"o` of "object", `{"i` of "id".
  const [first, second, third = letterE] = beginning;
  if (first === openBrace && second === quote && third !== letterE) return undefined;
  const start = beginning.toString('latin1', 0, lookedAtBytes).replaceAll(/\s/g, '');
  if (!start.startsWith(errorObject.slice(0, start.length))) return undefined;
  if (!isWhole) return 'unclear';
  if (start.length < errorObject.length) return undefined;
  return Number(statusInError.exec(beginning.toString('latin1'))?.[1] ?? 500);
}
