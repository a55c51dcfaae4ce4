/** Declares families whose wire format is OpenAI's or nearly so: each states only what differs, from which the rest derives. */

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

interface Said {
  readonly facts: string;
}

/** What differs from OpenAI in a family: an absent fact is as with OpenAI; an operation without facts is not offered. */
interface CompatibleFacts extends Omit<Family, 'offers' | 'chat' | 'bridges' | 'failureIn' | 'modelList'> {
  /** The path prefix under the base URL, which a base URL may also end with; or a function that converts a path. */
  readonly at?: string | ((path: string, options: Options) => string);
  /** The family's list of models; or only its path, where the list has OpenAI's shape. */
  readonly modelList?: ModelList | string;
  readonly completions?: OpenaiCompletionFacts & Said;
  readonly embeddings?: OpenaiEmbeddingFacts & Said;
  readonly rerank?: StandardRerankFacts & Said;
  /** The family has chat without completions; one with completions always has chat. */
  readonly hasChat?: true;
  own?(options: Options): Readonly<Partial<Record<Operation, Offer>>>;
  /** Offers under other labels than `openai`. */
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
          embeddings: offer(
            pathOf('/embeddings', options),
            // The upstream validates inputs, as it does in unchanged requests.
            openaiEmbeddings({ takesObjects: true, ...embeddings }, options),
            embeddings,
          ),
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

function toCompletions(facts: OpenaiCompletionFacts): Translation | undefined {
  return facts.onePromptACall || facts.misreadsTokens ? openaiCompletions(facts) : undefined;
}

/** The beginning of an error that came with status 200, as proxies in front of a model send them. */
const errorObject = '{"error":{';
const statusInError = /"(?:code|status)"\s*:\s*"?([45]\d\d)\b/;
const [openBrace, quote, letterE] = Buffer.from(errorObject);
/** Number of bytes that are examined: an answer that is no error shows it in its first characters. */
const lookedAtBytes = 64;

/** The real status of an error such as `{"error":{"code":502,...}}` that came with status 200. */
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
