/** Splits token counts by kind (cached, audio, image, reasoning), where a service reports them. */

import type { UnitName, Units } from '../../core/accounting/units.ts';

type Counts = Partial<Record<UnitName, number>>;
type Beside = Partial<Record<'serviceTier' | 'speed' | 'inferenceGeo', string>> & Pick<Units, 'toolCalls'>;

/** Names of the objects with parts of the input, in OpenAI's APIs. */
const inputDetails = ['prompt_tokens_details', 'input_tokens_details', 'input_token_details'];
const outputDetails = ['completion_tokens_details', 'output_tokens_details', 'output_token_details'];
const googleInputs = ['promptTokensDetails', 'toolUsePromptTokensDetails'];

/** Token counts by kind from a `usage` object; undefined where it has no details. */
export function unitsIn(usage: unknown): Units | undefined {
  const input = firstAt(usage, inputDetails);
  const output = firstAt(usage, outputDetails);
  const life = fieldAt(usage, 'cache_creation');
  const words = beside(usage);
  if (input === undefined && output === undefined && life === undefined) return words;
  const cached = fieldAt(input, 'cached_tokens_details');
  const counts = someOf({
    // Cached tokens of any kind have a price of their own.
    audioInputTokens: amountAt(input, 'audio_tokens') - amountAt(cached, 'audio_tokens'),
    imageInputTokens: amountAt(input, 'image_tokens') - amountAt(cached, 'image_tokens'),
    audioOutputTokens: amountAt(output, 'audio_tokens'),
    imageOutputTokens: amountAt(output, 'image_tokens'),
    reasoningTokens: amountAt(output, 'reasoning_tokens') || amountAt(output, 'thinking_tokens'),
    cacheWriteHourTokens: amountAt(life, 'ephemeral_1h_input_tokens'),
  });
  return words === undefined ? counts : { ...counts, ...words };
}

/** Token counts by kind from Google's `usageMetadata` object. */
export function googleUnitsIn(usage: unknown): Units | undefined {
  const inputs = (kind: string): number =>
    googleInputs.reduce((sum, name) => sum + ofKind(fieldAt(usage, name), kind), 0) -
    ofKind(fieldAt(usage, 'cacheTokensDetails'), kind);
  const output = fieldAt(usage, 'candidatesTokensDetails');
  const counts = someOf({
    audioInputTokens: inputs('AUDIO'),
    imageInputTokens: inputs('IMAGE'),
    audioOutputTokens: ofKind(output, 'AUDIO'),
    imageOutputTokens: ofKind(output, 'IMAGE'),
    reasoningTokens: amountAt(usage, 'thoughtsTokenCount'),
  });
  const tier = fieldAt(usage, 'serviceTier') ?? fieldAt(usage, 'trafficType');
  return typeof tier === 'string' ? { ...counts, serviceTier: tier } : counts;
}

/** Token counts by kind from Google's interactions, with the calls of Google's own tools. */
export function interactionUnitsIn(usage: unknown): Units | undefined {
  const of = (list: string, kind: string): number =>
    ofKind(fieldAt(usage, `${list}_tokens_by_modality`), kind, 'tokens');
  const inputs = (kind: string): number => of('input', kind) + of('tool_use', kind) - of('cached', kind);
  const counts = someOf({
    audioInputTokens: inputs('audio'),
    imageInputTokens: inputs('image'),
    audioOutputTokens: of('output', 'audio'),
    imageOutputTokens: of('output', 'image'),
    reasoningTokens: amountAt(usage, 'total_thought_tokens'),
  });
  const calls = fieldAt(usage, 'grounding_tool_count');
  if (!Array.isArray(calls)) return counts;
  const toolCalls = new Map<string, number>();
  for (const call of calls) {
    const kind = fieldAt(call, 'type');
    if (typeof kind === 'string') toolCalls.set(kind, (toolCalls.get(kind) ?? 0) + amountAt(call, 'count'));
  }
  return { ...counts, toolCalls: Object.fromEntries(toolCalls) };
}

/** Tool calls, service tier and similar facts that Anthropic reports within the usage. */
function beside(usage: unknown): Beside | undefined {
  const words: Mutable<Beside> = {};
  const calls = callsIn(fieldAt(usage, 'server_tool_use'));
  if (calls !== undefined) words.toolCalls = calls;
  for (const [name, field] of said) {
    const word = fieldAt(usage, field);
    if (typeof word === 'string') words[name] = word;
  }
  return Object.keys(words).length === 0 ? undefined : words;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const requests = '_requests';

function callsIn(counts: unknown): Units['toolCalls'] {
  if (typeof counts !== 'object' || counts === null) return undefined;
  const calls = Object.keys(counts).flatMap((name): [string, number][] =>
    name.endsWith(requests) ? [[name.slice(0, -requests.length), amountAt(counts, name)]] : [],
  );
  return Object.fromEntries(calls.filter(([, count]) => count > 0));
}

const said = [
  ['serviceTier', 'service_tier'],
  ['speed', 'speed'],
  ['inferenceGeo', 'inference_geo'],
] as const;

function ofKind(list: unknown, modality: string, name = 'tokenCount'): number {
  if (!Array.isArray(list)) return 0;
  let sum = 0;
  for (const one of list) if (fieldAt(one, 'modality') === modality) sum += amountAt(one, name);
  return sum;
}

function someOf(counts: Counts): Counts | undefined {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return some.length === 0 ? undefined : Object.fromEntries(some);
}

function firstAt(value: unknown, names: readonly string[]): unknown {
  for (const name of names) {
    const found = fieldAt(value, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

export const fieldAt = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (Reflect.get(value, name) ?? undefined) : undefined;

export function countAt(value: unknown, name: string): number | null {
  const count = fieldAt(value, name);
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : null;
}

const amountAt = (value: unknown, name: string): number => countAt(value, name) ?? 0;
