/** Translates embeddings between OpenAI's and other formats: inputs to texts, calls of a fitting size, vectors in the requested format. */

import { countsCharacters } from '../../../core/believable.ts';
import { dimensionNames } from '../../../core/dimension-names.ts';
import { numbersInBytes, numbersInList } from '../../../core/number-kinds.ts';
import {
  type Asked,
  inputTypes,
  type KnownLimits,
  type Purpose,
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
  JsonNumbers,
  type JsonObject,
  numberOf,
} from '../../../lib/json/json-text.ts';
import { isSliceOver, nextSlice } from '../../../lib/time-slices.ts';
import { estimateTokens } from '../../../lib/token-ids.ts';
import { toConversation } from '../conversation.ts';
import { furtherOf, type ParameterRules } from '../parameters.ts';
import { textIn } from '../reading.ts';
import { type Texts, toTexts } from '../texts.ts';
import { type Adapt, formatSaid, inFormat, type VectorFormat, widthOf } from './vectors.ts';

export interface EmbeddingCall {
  /** The inputs: texts; objects and token IDs too, where the wire format takes them. */
  readonly items: readonly Json[];
  readonly isSingle: boolean;
  readonly model: string;
  readonly format: VectorFormat;
  /** The requested width; undefined where the wire format has no field for it. */
  readonly dimensions: Json | undefined;
  /** Further parameters of client or operator: the wire format's own, and unknown ones where they may pass. */
  readonly more: JsonObject;
  readonly asked: Asked;
}

export interface EmbeddingResult {
  /** One vector for each item, in their order: lists of numbers, or base64 of little-endian 32-bit floats. */
  readonly vectors: readonly Json[];
  readonly adapt?: Adapt | undefined;
  /** Clients can read the upstream's answer unchanged, if it needs no conversion. */
  readonly isReadable?: boolean;
  /** The upstream's count of prompt tokens; undefined where it reports none. */
  readonly promptTokens: number | undefined;
  readonly totalTokens?: number | undefined;
  /** The upstream's name for the model, as in the answer. */
  readonly model?: string | undefined;
  readonly beside?: JsonObject;
}

export interface EmbeddingWireFormat extends ParameterRules {
  readonly limits?: KnownLimits;
  /** Whether the request for the upstream has a field for the width, under whatever name. */
  readonly hasDimensions: boolean | ((asked: Asked) => boolean);
  /** What inputs may be besides texts: objects, such as images, or anything. */
  readonly takes?: 'objects' | 'anything';
  /** Whether token IDs may be sent unchanged; else they are decoded. */
  takesTokens?(asked: Asked): boolean;
  /** The wire format's field for the purpose of texts, and its values. */
  readonly purposes?: { readonly name: string; readonly words: Readonly<Partial<Record<Purpose, string>>> };
  /** ID of the client API whose fields the upstream understands under the same names. */
  readonly speaks?: string;
  /** Whether the client wants base64 of other numbers than 32-bit floats, which are not validated. */
  holdsOtherNumbers?(asked: Asked): boolean;
  write(call: EmbeddingCall): WireRequest;
  /** Reads an answer. Throws `Unfit`. */
  read(answer: WireAnswer, call: EmbeddingCall): EmbeddingResult | Promise<EmbeddingResult>;
}

const handled: ReadonlySet<string> = new Set(['input', 'model', 'encoding_format', ...dimensionNames]);

export function translateEmbeddings(wireFormat: EmbeddingWireFormat): Translation {
  return {
    ...(wireFormat.limits !== undefined && { limits: wireFormat.limits }),
    ...(wireFormat.purposes !== undefined && { hasRoles: true as const }),
    async ask(asked) {
      const format = formatOf(asked);
      const dimensions = dimensionsOf(asked, wireFormat);
      const hasPurpose = purposeIn(asked, wireFormat) !== undefined;
      const more = furtherOf(asked, wireFormat, (name) =>
        name === 'input_type' ? hasPurpose : handled.has(name) && !wireFormat.own.includes(name),
      );
      addWords(more, asked, wireFormat);
      const { items, isSingle } = await inputsOf(asked, wireFormat);
      const call: EmbeddingCall = { items, isSingle, model: asked.model, format, dimensions, more, asked };
      return toConversation(wireFormat.write(call), async (answer) => {
        const result = await readResult(wireFormat, call, answer);
        const vectors = await toVectors(result, format, wireFormat, asked);
        return { ...toReply(result, items, vectors, asked), width: widthSaid(vectors, dimensions, asked) };
      });
    },
  };
}

function formatOf(asked: Asked): VectorFormat {
  const { encoding_format: written = 'float' } = asked.body;
  const format = formatSaid(written);
  if (format === 'none') asked.canDoWithout('encoding_format', bothFormats);
  else if (format !== undefined) return format;
  else asked.cannot('encoding_format', bothFormats);
  return 'float';
}

const bothFormats = 'gives "float" or "base64" here';

async function inputsOf(asked: Asked, { takes, takesTokens }: EmbeddingWireFormat): Promise<Texts> {
  const { input, messages } = asked.body;
  if (input === undefined && messages !== undefined) throw asked.refusal('messages', 'embeds no conversations');
  if (input !== undefined && takesTokens?.(asked)) {
    return isJsonList(input) ? { items: input, isSingle: false } : { items: [input], isSingle: true };
  }
  const texts = await toTexts(asked, 'input');
  const isTaken = (item: Json): boolean => typeof item === 'string' || (takes === 'objects' && isJsonObject(item));
  if (takes === 'anything' || texts.items.every(isTaken)) return texts;
  throw asked.refusal('input', takes === 'objects' ? 'takes texts and objects only' : 'takes text only');
}

function dimensionsOf(asked: Asked, { hasDimensions }: EmbeddingWireFormat): Json | undefined {
  const { body } = asked;
  const [name, ...others] = namesOfDimensions(asked);
  if (name === undefined) return undefined;
  for (const other of others) asked.canDoWithout(other, `takes "${name}", which is there too`);
  if (typeof hasDimensions === 'boolean' ? hasDimensions : hasDimensions(asked)) return body[name];
  asked.canDoWithout(name);
  return undefined;
}

/** The names under which a width was requested: the client's; the operator's where the client sent none. */
function namesOfDimensions({ body, defaults }: Asked): readonly string[] {
  const named = dimensionNames.filter((name) => body[name] !== undefined);
  const own = named.filter((name) => !(Object.hasOwn(defaults, name) && defaults[name] === body[name]));
  return own.length > 0 ? own : named;
}

/** The purpose in the wire format's own word; a client's `input_type` may be in the words of another service. */
function purposeIn({ words, body }: Asked, { purposes }: EmbeddingWireFormat): string | undefined {
  const said = words?.purpose ?? inputTypes.get(body.input_type ?? null);
  return said && purposes?.words[said];
}

/** Adds the fields of a client API, which override the operator's defaults. */
function addWords(more: Record<string, Json>, asked: Asked, wireFormat: EmbeddingWireFormat): void {
  const { purposes: { name: field } = {}, speaks } = wireFormat;
  const { words, body, defaults } = asked;
  const wins = (name: string): boolean => body[name] === undefined || body[name] === defaults[name];
  const purpose = purposeIn(asked, wireFormat);
  if (field !== undefined && purpose !== undefined && (field === 'input_type' || wins(field))) more[field] = purpose;
  if (words === undefined) return;
  for (const [name, value] of Object.entries(words.more)) {
    if (value === undefined || !wins(name)) continue;
    if (words.clientApi === speaks) more[name] = value;
    else asked.ignored.add(name);
  }
}

async function readResult(
  wireFormat: EmbeddingWireFormat,
  call: EmbeddingCall,
  answer: WireAnswer,
): Promise<EmbeddingResult> {
  const result = await wireFormat.read(answer, call);
  const { length } = result.vectors;
  if (length !== call.items.length) throw new Unfit(`${length} vectors for ${call.items.length} inputs`);
  return result;
}

/** Numbers that are converted between two points where the work may pause. */
const numbersPerPiece = 4_096;

interface Vectors {
  readonly vectors: readonly Json[];
  /** All vectors came in base64, as requested. */
  readonly areAsAsked: boolean;
  readonly first: Json | undefined;
}

/** Converts all vectors to the requested format, in time slices; all must have one width. */
async function toVectors(
  { vectors: came, adapt }: EmbeddingResult,
  format: VectorFormat,
  { holdsOtherNumbers }: EmbeddingWireFormat,
  asked: Asked,
): Promise<Vectors> {
  const areAsAsked = format === 'base64' && came.every((vector) => typeof vector === 'string');
  if (areAsAsked && holdsOtherNumbers?.(asked)) return { vectors: came, areAsAsked, first: came[0] };
  const vectors: Json[] = [];
  let first: number | undefined;
  let numbers = 0;
  for (const [index, vector] of came.entries()) {
    const width = widthOf(vector, index);
    first ??= width;
    if (width !== first) throw new Unfit(`vectors of ${first} and of ${width} numbers`);
    vectors.push(inFormat(vector, format, adapt));
    numbers += width;
    if (numbers < numbersPerPiece) continue;
    numbers = 0;
    if (isSliceOver()) await nextSlice();
  }
  return { vectors, areAsAsked, first: came[0] };
}

const kindNames = ['output_dtype', 'embed_dtype'] as const;

/** The width that came and the width that the client asked for; an operator's default does not count as asked for. */
function widthSaid(
  { first }: Vectors,
  dimensions: Json | undefined,
  { body, defaults }: Asked,
): NonNullable<Reply['width']> {
  const kind = kindNames.map((name) => body[name]).find((said) => said !== undefined) ?? 'float';
  const isOwn = dimensionNames.some((name) => body[name] === dimensions && defaults[name] !== dimensions);
  return {
    came: typeof kind === 'string' ? numbersIn(first, kind) : undefined,
    asked: dimensions !== undefined && isOwn ? numberOf(dimensions) : undefined,
  };
}

function numbersIn(vector: Json | undefined, kind: string): number | undefined {
  if (vector instanceof JsonNumbers) return numbersInList(kind, vector.length, vector.source.includes('.'));
  return typeof vector === 'string' ? numbersInBytes(kind, Buffer.byteLength(vector, 'base64')) : undefined;
}

function toReply(
  { promptTokens: counted, totalTokens: total, beside = {}, model, isReadable }: EmbeddingResult,
  items: readonly Json[],
  { vectors, areAsAsked }: Vectors,
  asked: Asked,
): Omit<Reply, 'width'> {
  // Character counts stay in the exchange's record: the client pays for tokens.
  const isEstimated = counted === undefined || countsCharacters(asked.options);
  const estimate = isEstimated ? items.reduce<number>((sum, item) => sum + estimateOf(item), 0) : 0;
  const { id, ...others } = beside;
  return {
    body: {
      // Mistral's clients refuse an answer without one.
      id: textIn(id) || `embd-${asked.id}`,
      ...others,
      object: 'list',
      data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      model: model ?? asked.model,
      usage: isEstimated
        ? { prompt_tokens: estimate, total_tokens: estimate }
        : { prompt_tokens: counted, total_tokens: total ?? counted },
    },
    usage:
      counted === undefined
        ? null
        : { promptTokens: counted, completionTokens: null, totalTokens: total ?? counted, searchUnits: null },
    isEstimated,
    isAsItCame: areAsAsked && isReadable === true && asked.ignored.size === 0 && wentAs(items, asked),
  };
}

function wentAs(items: readonly Json[], { body: { input } }: Asked): boolean {
  return isJsonList(input) ? items.every((item, index) => item === input[index]) : items[0] === input;
}

function estimateOf(item: Json): number {
  if (item instanceof JsonNumbers) return item.length;
  return typeof item === 'string' ? estimateTokens(item) : 1;
}

export const cohereInputTypes: NonNullable<EmbeddingWireFormat['purposes']> = {
  name: 'input_type',
  words: {
    document: 'search_document',
    query: 'search_query',
    classification: 'classification',
    clustering: 'clustering',
  },
};
