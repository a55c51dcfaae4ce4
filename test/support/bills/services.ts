/** Fake services with exact usage: each answers a request, and records what it counted. */

import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import type { Operation } from '../../../src/core/operations/index.ts';

/** What the services' model can do. */
export const model = { context: 3_000, maxOutput: 300, maxToolCalls: 4 };

/** In parts that do not overlap, as bills add them up. */
export interface Journal {
  readonly text: number;
  readonly cached: number;
  readonly written: number;
  readonly writtenForAnHour: number;
  readonly audioIn: number;
  readonly imageIn: number;
  readonly output: number;
  readonly audioOut: number;
  readonly imageOut: number;
  readonly searches: number;
  readonly fileSearches: number;
  readonly words: { readonly serviceTier?: string; readonly speed?: string; readonly inferenceGeo?: string };
}

export interface Served {
  readonly operation: Operation;
  readonly body: object;
  readonly isStream: boolean;
  readonly answer: string;
  readonly journal: Journal;
}

/** A share of what there may be, so that all of a draw is decided before the request is known. */
const share = fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true }));
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const tiers = ['default', 'priority', 'flex'] as const;
const draws = fc.record({
  text: fc.string({ maxLength: 200 }),
  isStream: fc.boolean(),
  limit: maybe(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 200 }))),
  otherLimit: maybe(fc.integer({ min: 0, max: 200 })),
  choices: maybe(fc.integer({ min: 1, max: 4 })),
  hasPicture: fc.boolean(),
  tier: maybe(fc.constantFrom('auto', ...tiers)),
  speed: maybe(fc.constantFrom('standard', 'fast')),
  geo: maybe(fc.constantFrom('global', 'us')),
  foretold: maybe(fc.string({ maxLength: 300 })),
  isShortened: fc.boolean(),
  tools: fc.subarray(['web_search', 'file_search'] as const),
  mostCalls: maybe(fc.integer({ min: 0, max: 9 })),
  input: share,
  parts: fc.tuple(share, share, share, share),
  output: share,
  outputParts: fc.tuple(share, share),
  calls: share,
  word: fc.nat(2),
});
type Draw = typeof draws extends fc.Arbitrary<infer T> ? T : never;

const part = (whole: number, by: number): number => Math.floor(whole * by);

/** The tier that a request leads to. */
function tierOf({ tier, word }: Draw): string {
  if (tier === undefined || tier === 'auto') return tiers[word] ?? 'default';
  return word === 0 ? 'default' : tier;
}

interface MemoryLease {
  readonly input: number;
  readonly output: number;
  readonly searches?: number;
  readonly fileSearches?: number;
}

function count(
  draw: Draw,
  { input, output, searches = 0, fileSearches = 0 }: MemoryLease,
  words: Journal['words'],
): Journal {
  let left = Math.max(part(input, draw.input), 1);
  const take = (by: number): number => {
    const taken = part(left - 1, by);
    left -= taken;
    return taken;
  };
  const [cached, written, audioIn, imageIn] = draw.parts.map(take) as [number, number, number, number];
  const wrote = part(output, draw.output);
  const audioOut = part(wrote, draw.outputParts[0]);
  const imageOut = part(wrote - audioOut, draw.outputParts[1]);
  return {
    ...{ text: left, cached, written, writtenForAnHour: part(written, draw.input), audioIn, imageIn },
    ...{ output: wrote - audioOut - imageOut, audioOut, imageOut, searches, fileSearches, words },
  };
}

const inputOf = (journal: Journal): number =>
  journal.text + journal.cached + journal.written + journal.audioIn + journal.imageIn;
const outputOf = (journal: Journal): number => journal.output + journal.audioOut + journal.imageOut;
const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const event = (type: string, more: object): string => `event: ${type}\n${data({ type, ...more })}`;
const bytesOf = (body: object): number => Buffer.byteLength(JSON.stringify(body));
const picture = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };

/** No answer is shorter than nothing, and no limit means as much as the model can write. */
const limitOf = (...limits: readonly (number | undefined)[]): number => {
  const said = limits.filter((limit) => limit !== undefined);
  return said.length === 0 || said.includes(0) ? model.maxOutput : Math.min(Math.max(...said), model.maxOutput);
};

function chat(draw: Draw): Served {
  const { text, limit, otherLimit, choices, hasPicture, tier, foretold, isStream } = draw;
  const searches = draw.tools.length > 0 ? 1 : 0;
  const body = {
    model: 'm',
    messages: [{ role: 'user', content: hasPicture ? [picture, { type: 'text', text }] : text }],
    ...{ max_tokens: limit, max_completion_tokens: otherLimit, n: choices, service_tier: tier, stream: isStream },
    ...(foretold !== undefined && { prediction: { type: 'content', content: foretold } }),
    ...(searches > 0 && { web_search_options: {} }),
  };
  const most = limitOf(limit, otherLimit) * (choices ?? 1);
  const lease = {
    input: searches > 0 ? 2 * model.context : hasPicture ? model.context : Math.min(bytesOf(body), model.context),
    // What is foretold and does not come is billed beside what is written.
    output: most + (foretold === undefined ? 0 : Buffer.byteLength(foretold) * (choices ?? 1)),
    searches,
  };
  const unwritten: Draw = { ...draw, parts: [draw.parts[0], 0, draw.parts[2], draw.parts[3]] };
  const journal = count(unwritten, lease, { serviceTier: tierOf(draw) });
  const usage = {
    prompt_tokens: inputOf(journal),
    completion_tokens: outputOf(journal),
    total_tokens: inputOf(journal) + outputOf(journal),
    prompt_tokens_details: {
      cached_tokens: journal.cached,
      audio_tokens: journal.audioIn,
      image_tokens: journal.imageIn,
    },
    completion_tokens_details: { audio_tokens: journal.audioOut, image_tokens: journal.imageOut, reasoning_tokens: 0 },
  };
  const { serviceTier } = journal.words;
  const whole = JSON.stringify({ object: 'chat.completion', choices: [], usage, service_tier: serviceTier });
  const stream = `${data({ choices: [], service_tier: serviceTier, usage: null })}${data({ choices: [], usage, service_tier: serviceTier })}data: [DONE]\n\n`;
  return { operation: 'chat', body, isStream, answer: isStream ? stream : whole, journal };
}

function responses(draw: Draw): Served {
  const { text, limit, tier, tools, mostCalls, isStream } = draw;
  const body = {
    ...{ model: 'm', input: text, max_output_tokens: limit, service_tier: tier, stream: isStream },
    ...(tools.length > 0 && { tools: tools.map((type) => ({ type })), max_tool_calls: mostCalls }),
  };
  const most = Math.min(mostCalls ?? model.maxToolCalls, model.maxToolCalls);
  const calls = part(most + 1, Math.min(draw.calls, 0.999));
  const items = Array.from({ length: calls }, (_, no) => ({
    type: `${tools[no % tools.length] ?? 'web_search'}_call`,
    id: `c_${no}`,
  }));
  const made = tools.length === 0 ? [] : items;
  const lease = {
    input: tools.length > 0 ? model.context * (calls + 1) : Math.min(bytesOf(body), model.context),
    output: limitOf(limit),
    searches: made.filter(({ type }) => type === 'web_search_call').length,
    fileSearches: made.filter(({ type }) => type === 'file_search_call').length,
  };
  const plain: Draw = { ...draw, parts: [draw.parts[0], 0, 0, 0], outputParts: [0, 0] };
  const journal = count(plain, lease, { serviceTier: tierOf(draw) });
  const usage = {
    input_tokens: inputOf(journal),
    output_tokens: outputOf(journal),
    input_tokens_details: { cached_tokens: journal.cached },
  };
  const response = { object: 'response', service_tier: journal.words.serviceTier, output: made, usage };
  const passing = made.map(
    (item) => event('response.output_item.added', { item }) + event('response.output_item.done', { item }),
  );
  const stream = `${event('response.created', { response: { service_tier: 'auto', usage: null } })}${passing.join('')}${event('response.completed', { response })}`;
  return { operation: 'responses', body, isStream, answer: isStream ? stream : JSON.stringify(response), journal };
}

function messages(draw: Draw): Served {
  const { text, limit = 20, speed, geo, tools, mostCalls, isShortened, isStream } = draw;
  const isSearching = tools.length > 0;
  const body = {
    ...{
      model: 'm',
      max_tokens: limit,
      messages: [{ role: 'user', content: text }],
      speed,
      inference_geo: geo,
      stream: isStream,
    },
    ...(isSearching && { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: mostCalls }] }),
    ...(isShortened && { context_management: { edits: [{ type: 'compact_20260112' }] } }),
  };
  const most = Math.min(mostCalls ?? model.maxToolCalls, model.maxToolCalls);
  const searches = isSearching ? part(most + 1, Math.min(draw.calls, 0.999)) : 0;
  const heldBytes = Math.min(bytesOf(body), model.context);
  const plain: Draw = { ...draw, parts: [draw.parts[0], draw.parts[1], 0, 0], outputParts: [0, 0] };
  const serviceTier = tierOf({ ...draw, tier: undefined });
  const words = { serviceTier, speed: speed ?? 'standard', inferenceGeo: geo ?? (draw.word === 0 ? 'us' : 'global') };
  const lease = { input: isSearching ? model.context * (searches + 1) : heldBytes, output: limitOf(limit), searches };
  const answered = count(plain, lease, words);
  const summary = isShortened
    ? { input: part(heldBytes, draw.input), output: part(model.maxOutput, draw.output) }
    : { input: 0, output: 0 };
  const journal = { ...answered, text: answered.text + summary.input, output: answered.output + summary.output };
  const counted = {
    input_tokens: answered.text,
    cache_read_input_tokens: answered.cached,
    cache_creation_input_tokens: answered.written,
    cache_creation: {
      ephemeral_5m_input_tokens: answered.written - answered.writtenForAnHour,
      ephemeral_1h_input_tokens: answered.writtenForAnHour,
    },
    ...{ service_tier: serviceTier, speed: words.speed, inference_geo: words.inferenceGeo },
  };
  const end = {
    output_tokens: answered.output,
    server_tool_use: { web_search_requests: searches },
    iterations: isShortened
      ? [
          { type: 'compaction', input_tokens: summary.input, output_tokens: summary.output },
          { type: 'message', ...counted },
        ]
      : null,
  };
  const whole = JSON.stringify({ type: 'message', content: [], usage: { ...counted, ...end } });
  const stream = `${event('message_start', { message: { usage: { ...counted, output_tokens: 1 } } })}${event('message_delta', { usage: end })}${event('message_stop', {})}`;
  return { operation: 'messages', body, isStream, answer: isStream ? stream : whole, journal };
}

const modality = (kind: string, tokenCount: number) => ({ modality: kind, tokenCount });

function generate(draw: Draw): Served {
  const { text, limit, choices, tools, hasPicture } = draw;
  const isSearching = tools.length > 0;
  const body = {
    contents: [{ parts: hasPicture ? [{ text }, { fileData: { fileUri: 'https://example.com/a.png' } }] : [{ text }] }],
    generationConfig: {
      ...(limit !== undefined && { maxOutputTokens: limit }),
      ...(choices !== undefined && { candidateCount: choices }),
    },
    ...(isSearching && { tools: [{ googleSearch: {} }] }),
  };
  const held = hasPicture ? model.context : Math.min(bytesOf(body), model.context);
  const lease = {
    input: isSearching ? model.context * 2 : held,
    output: limitOf(limit) * (choices ?? 1),
    searches: isSearching ? 1 : 0,
  };
  const plain: Draw = { ...draw, parts: [draw.parts[0], 0, draw.parts[2], draw.parts[3]] };
  const journal = count(plain, lease, {});
  const thought = part(journal.output, draw.calls);
  const answer = {
    candidates: [{ content: {}, ...(isSearching && { groundingMetadata: { webSearchQueries: ['a', 'a'] } }) }],
    usageMetadata: {
      promptTokenCount: inputOf(journal),
      candidatesTokenCount: outputOf(journal) - thought,
      thoughtsTokenCount: thought,
      totalTokenCount: inputOf(journal) + outputOf(journal),
      cachedContentTokenCount: journal.cached,
      promptTokensDetails: [
        modality('TEXT', journal.text),
        modality('AUDIO', journal.audioIn),
        modality('IMAGE', journal.imageIn),
      ],
      candidatesTokensDetails: [modality('AUDIO', journal.audioOut), modality('IMAGE', journal.imageOut)],
    },
  };
  return { operation: 'generate', body, isStream: false, answer: JSON.stringify(answer), journal };
}

/** One of the services, with a request that it takes and the answer that it gives. */
export const served: fc.Arbitrary<Served> = fc
  .tuple(fc.constantFrom(chat, responses, messages, generate), draws)
  .map(([serve, draw]) => serve(draw));
