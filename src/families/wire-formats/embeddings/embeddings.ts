/** Translates embeddings between OpenAI's and other formats: inputs to texts, calls of a fitting size, vectors in the requested format. */

import { countsCharacters } from '../../../core/believable.ts';
import { dimensionNames } from '../../../core/dimension-names.ts';
import type { KnownLimits } from '../../../core/list-limits.ts';
import { numbersInBytes, numbersInList } from '../../../core/number-kinds.ts';
import {
  type Asked,
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
import { hints } from '../hints.ts';
import { textIn } from '../reading.ts';
import { type Texts, toTexts } from '../texts.ts';
import { type Adapt, formatSaid, inFormat, type VectorFormat, widthOf } from './vectors.ts';

export interface EmbeddingCall {
  /** Texts; objects and token IDs too, where the wire format takes them. */
  readonly items: readonly Json[];
  /** There is one input, which came as no list. */
  readonly isSingle: boolean;
  readonly model: string;
  readonly format: VectorFormat;
  /** Where the wire format has a name for it. */
  readonly dimensions: Json | undefined;
  /** What else the client or the operator sends: the wire format's own parameters, and unknown ones where they may pass. */
  readonly more: JsonObject;
  readonly asked: Asked;
}

export interface EmbeddingResult {
  /** In the order of the items: lists of numbers, or base64 of little-endian 32-bit floats. */
  readonly vectors: readonly Json[];
  /** What has to be done to the numbers of each. */
  readonly adapt?: Adapt | undefined;
  /** The answer is one that a client can read as it came. */
  readonly isReadable?: boolean;
  /** What the upstream counted; undefined where it says nothing. */
  readonly promptTokens: number | undefined;
  readonly totalTokens?: number | undefined;
  /** What the upstream calls its model. */
  readonly model?: string | undefined;
  /** What stands beside these in its answer, such as an ID. */
  readonly beside?: JsonObject;
}

export interface EmbeddingWireFormat {
  /** What one call holds; without, the upstream is the judge. */
  readonly limits?: KnownLimits;
  /** Whether `write` sends `dimensions`, under whatever name. */
  readonly hasDimensions: boolean | ((asked: Asked) => boolean);
  /** What inputs may be beside texts: objects, such as images, or whatever a client sends. */
  readonly takes?: 'objects' | 'anything';
  /** Whether token IDs may go as they are; else they are decoded. */
  takesTokens?(asked: Asked): boolean;
  /** Further parameters that it has a name for, which is also the client's. */
  readonly own: readonly string[];
  /** What it calls that which texts are embedded for, and its words for it. */
  readonly purposes?: { readonly name: string; readonly words: Readonly<Partial<Record<Purpose, string>>> };
  /** The client API whose words it understands, each under its own name. */
  readonly speaks?: string;
  /** Names of its own that no client may send, and why: they are for what is said in another way here. */
  readonly cannot?: Readonly<Record<string, string>>;
  /** It refuses what it does not know; without, unknown parameters pass, save hints. */
  readonly isStrict?: boolean;
  /** Whether the client wants base64 of other numbers than these 32-bit floats, which are not for us to judge. */
  holdsOtherNumbers?(asked: Asked): boolean;
  write(call: EmbeddingCall): WireRequest;
  /** Throws `Unfit`. */
  read(answer: WireAnswer, call: EmbeddingCall): EmbeddingResult | Promise<EmbeddingResult>;
}

/** Those that the hub takes care of. */
const handled: ReadonlySet<string> = new Set(['input', 'model', 'encoding_format', ...dimensionNames]);

export function translateEmbeddings(wireFormat: EmbeddingWireFormat): Translation {
  return {
    ...(wireFormat.limits !== undefined && { limits: wireFormat.limits }),
    ...(wireFormat.purposes !== undefined && { hasRoles: true as const }),
    async ask(asked) {
      const format = formatOf(asked);
      const dimensions = dimensionsOf(asked, wireFormat);
      const more = furtherOf(asked, wireFormat);
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

/** What is sent for each vector that is to come back. */
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

/** Those that the client sent; the operator's where it sent none. */
function namesOfDimensions({ body, defaults }: Asked): readonly string[] {
  const named = dimensionNames.filter((name) => body[name] !== undefined);
  const own = named.filter((name) => !(Object.hasOwn(defaults, name) && defaults[name] === body[name]));
  return own.length > 0 ? own : named;
}

function furtherOf(asked: Asked, wireFormat: EmbeddingWireFormat): JsonObject {
  const { own, cannot = {}, isStrict = false } = wireFormat;
  const more: Record<string, Json> = Object.create(null);
  for (const [name, value] of Object.entries(asked.body)) {
    if (value === undefined) continue;
    if (own.includes(name)) more[name] = value;
    else if (handled.has(name)) continue;
    else if (Object.hasOwn(cannot, name)) asked.cannot(name, cannot[name]);
    else if (hints.has(name)) asked.canDoWithout(name);
    else if (isStrict) asked.cannot(name);
    else more[name] = value;
  }
  addWords(more, asked, wireFormat);
  return more;
}

/** What a client of another API said goes before what the operator set for those who say nothing. */
function addWords(more: Record<string, Json>, asked: Asked, { purposes, speaks }: EmbeddingWireFormat): void {
  const { words, body, defaults } = asked;
  if (words === undefined) return;
  const wins = (name: string): boolean => body[name] === undefined || body[name] === defaults[name];
  const purpose = words.purpose === undefined ? undefined : purposes?.words[words.purpose];
  if (purposes !== undefined && purpose !== undefined && wins(purposes.name)) more[purposes.name] = purpose;
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

/** Between two places to stop. */
const numbersPerPiece = 4_096;

interface Vectors {
  readonly vectors: readonly Json[];
  /** Base64 was asked for, and came. */
  readonly areAsAsked: boolean;
  /** The first of them, as it came. */
  readonly first: Json | undefined;
}

/** All of them in the format that was asked for, of one width as those of one model are; with a turn for the event loop now and then. */
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

/** What the operator sets for those who ask for no width is nothing that they have asked for. */
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
  // Characters stand in the exchange's record, and are nothing to tell a client that pays for tokens.
  const isEstimated = counted === undefined || countsCharacters(asked.options);
  const estimate = isEstimated ? items.reduce<number>((sum, item) => sum + estimateOf(item), 0) : 0;
  const { id, ...others } = beside;
  return {
    body: {
      // Mistral's clients read no answer without one.
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

/** Nothing had to be made of what the client sent. */
function wentAs(items: readonly Json[], { body: { input } }: Asked): boolean {
  return isJsonList(input) ? items.every((item, index) => item === input[index]) : items[0] === input;
}

function estimateOf(item: Json): number {
  if (item instanceof JsonNumbers) return item.length;
  return typeof item === 'string' ? estimateTokens(item) : 1;
}
