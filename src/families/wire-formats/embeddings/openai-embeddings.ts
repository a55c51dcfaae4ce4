/** Translates embeddings for upstreams that support only a part of OpenAI's format. Supported requests pass unchanged. */

import type { Options } from '../../../core/family.ts';
import { type Glance, type Translation, Unfit, type WireAnswer } from '../../../core/translation.ts';
import { kindBits, textOf } from '../../../lib/json/json-scan.ts';
import type { Json } from '../../../lib/json/json-text.ts';
import { hints } from '../parameters.ts';
import { at, byIndex, countIn, listIn, objectIn, textIn } from '../reading.ts';
import { type EmbeddingResult, type EmbeddingWireFormat, translateEmbeddings } from './embeddings.ts';

export interface OpenaiEmbeddingFacts {
  /** Largest number of inputs in a call; without it, the upstream enforces its own. */
  readonly maxItems?: number;
  /** The name of the option by which an operator sets another `maxItems`. */
  readonly maxItemsOption?: string;
  /** The upstream would read OpenAI's token IDs as its own, or refuse them. */
  readonly misreadsTokens?: boolean;
  /** The upstream always answers with floats. */
  readonly lacksBase64?: boolean;
  /** The upstream always answers with vectors of the same width. */
  readonly lacksDimensions?: boolean;
  /** Fields for which the upstream refuses null, in place of reading it as absent. */
  readonly refusesNull?: readonly ('dimensions' | 'encoding_format')[];
  /** Inputs that are objects, such as images, are passed on for the upstream to validate. */
  readonly takesObjects?: boolean;
  /** Names of parameters that put other numbers than 32-bit floats into base64. */
  readonly forOtherNumbers?: readonly string[];
}

export function openaiEmbeddings(facts: OpenaiEmbeddingFacts, options: Options = {}): Translation {
  const { misreadsTokens = false, lacksDimensions = false, takesObjects = false } = facts;
  const { refusesNull = [], forOtherNumbers = [] } = facts;
  const lacksBase64 = facts.lacksBase64 === true || options.base64 === 'convert';
  const items = options[facts.maxItemsOption ?? ''] ?? facts.maxItems;
  const wireFormat: EmbeddingWireFormat = {
    ...(items !== undefined && { limits: { items: Number(items) } }),
    hasDimensions: !lacksDimensions,
    ...(takesObjects && { takes: 'anything' }),
    takesTokens: ({ tokenIds }) => !misreadsTokens || tokenIds === 'pass',
    own: [...hints],
    holdsOtherNumbers: ({ body }) => !lacksBase64 && forOtherNumbers.some((name) => body[name] !== undefined),
    write: ({ items, isSingle, model, format, dimensions, more }) => ({
      body: {
        ...more,
        model,
        input: isSingle ? (items[0] ?? '') : items,
        ...(dimensions !== undefined && { dimensions }),
        ...(format === 'base64' && { encoding_format: lacksBase64 ? 'float' : 'base64' }),
      },
    }),
    read: (answer) => ({ ...readOpenaiEmbeddings(answer), isReadable: isInOrder(answer) }),
  };
  return {
    ...translateEmbeddings(wireFormat),
    isNeeded(glance) {
      const { fields } = glance;
      // A conversation in place of the input is for the upstream to validate.
      if ((fields.get('input')?.kind ?? 'null') === 'null') return false;
      return (
        // Many services answer with floats in spite of it, which the official clients misread as zeros.
        asksForBase64(glance) ||
        (lacksDimensions && (fields.get('dimensions')?.kind ?? 'null') !== 'null') ||
        refusesNull.some((name) => fields.get(name)?.kind === 'null') ||
        (misreadsTokens && holdsTokens(glance))
      );
    },
  };
}

/** Reads an answer in the shape of OpenAI and many others; the vectors are ordered by their index. */
export const readOpenaiEmbeddings = ({ body }: WireAnswer): EmbeddingResult => {
  const { data, usage, model, object: _, ...beside } = objectIn(body, 'the answer');
  const vectors = byIndex(listIn(data, 'data'), 'index', 'an element of data').map(vectorOf);
  const total = countIn(at(usage, 'total_tokens'));
  return {
    vectors,
    // Some upstreams report only the total, some a prompt count of zero beside it.
    promptTokens: countIn(at(usage, 'prompt_tokens')) || total,
    totalTokens: total,
    model: textIn(model),
    beside,
  };
};

/** Whether the vectors came in the order of their index, as clients read them by position. */
function isInOrder({ body }: WireAnswer): boolean {
  return listIn(at(body, 'data'), 'data').every((element, index) => countIn(at(element, 'index')) === index);
}

function vectorOf({ embedding }: { readonly embedding?: Json | undefined }): Json {
  if (embedding === undefined) throw new Unfit('an element of data has no embedding');
  return embedding;
}

/** Longest form of the JSON text "base64" in bytes: every character escaped, and the quotes. */
const longestFormatBytes = 38;

function asksForBase64({ body, fields }: Glance): boolean {
  const format = fields.get('encoding_format');
  if (format?.kind !== 'string' || format.end - format.start > longestFormatBytes) return false;
  return textOf(body, format).toLowerCase() === 'base64';
}

const idsOrListsOfThem = kindBits('number', 'array');

/** Whether the input is a list of token IDs, or a list of such lists. */
export function holdsTokens({ fields, tokenIds }: Glance): boolean {
  if (tokenIds === 'pass') return false;
  return ((fields.get('input')?.elementKinds ?? 0) & idsOrListsOfThem) !== 0;
}
