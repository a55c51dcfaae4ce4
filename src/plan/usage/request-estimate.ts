/** Estimates a request from its body: items, tokens, and the worst case to reserve. See docs/reference/prices.md. */

import { Buffer } from 'node:buffer';
import { forNothing, type PriceUnit, type RequestEstimate } from '../../core/accounting/price.ts';
import type { CustomRoute } from '../../core/custom-route.ts';
import type { Candidate, RoutePlan } from '../../core/dispatch.ts';
import type { OperationRow } from '../../core/operations/row.ts';
import type { Route } from '../../core/route.ts';
import { type JsonField, oneSliceBytes } from '../../lib/json/json-scan.ts';
import { numberOf } from '../../lib/json/json-text.ts';
import { COLON, SPACE } from '../../lib/json/json-tokens.ts';
import { atOnce, timeSliced } from '../../lib/time-slices.ts';
import type { Question } from '../question.ts';
import { forContents } from './contents.ts';
import { type Conversation, conversationIn, templateTokens, toolsIn, toolsTokens } from './conversation.ts';
import { withTools } from './hosted-tools.ts';
import { forImages, forRecording, forSpeech } from './media.ts';
import { isStreamAsked, numberIn } from './number-in.ts';
import { termsIn } from './request-terms.ts';

const bytesPerToken = 4;
const tokensPerImage = 1000;
/** Assumed limit of the answer where the client sets none: the default of OpenAI and similar services. */
const standardMaxTokens = 16;
/** Assumed limit for values that set none, such as llama.cpp's -1, vLLM's null, or 0, which some services treat as absent. */
const boundlessMaxTokens = 131_072;
/** Limit of a count of tokens: more than any model takes, and small enough for exact products. */
const mostTokens = 1_000_000_000;
const mostChoices = 10_000;
/** Fields with the number of answers: the usual one, and llama.cpp's. */
const choiceNames = ['n', 'n_cmpl'] as const;
/** Alternative names of `max_tokens` that some services prefer: they may raise the worst case, but never lower it. */
const otherLimitNames = ['max_completion_tokens', 'n_predict'] as const;

/** Rerankers bill one search for up to this many documents; each part of a long document counts as one more. */
const documentsPerSearchUnit = 100;
const tokensPerPart = 500;
const fewestTokensPerPart = 250;

type ItemCount = Pick<JsonField, 'elements' | 'values'>;
const one: ItemCount = Object.freeze({ elements: 1, values: 1 });
/** Number of items between two points where counting may pause. */
const looksPerPiece = 1_024;
const imageKey = Buffer.from('"image_url"');

/** Estimates a request on a custom route: by the length of the body, and by the operator's settings. */
function forAnything(
  { body, form }: Question,
  { path }: Route,
  { most: { output, units } }: CustomRoute,
  { maxOutput }: Asked['model'],
): RequestEstimate {
  const bytes = form?.bytes ?? body.length;
  const mostOutputTokens = output ?? maxOutput;
  const unbounded: PriceUnit[] = [];
  if (mostOutputTokens === undefined) unbounded.push('output');
  if (units === undefined) unbounded.push('searchUnit');
  return {
    items: 1,
    images: 0,
    likelyInputTokens: Math.ceil(bytes / bytesPerToken),
    mostInputTokens: bytes,
    mostOutputTokens: mostOutputTokens ?? boundlessMaxTokens,
    mostSearchUnits: units ?? 1,
    isStream: false,
    ...(unbounded.length > 0 && { unbounded: path, unboundedBy: unbounded }),
  };
}

type Tiers = RoutePlan['tiers'];
type Asked = Pick<RoutePlan, 'tiers'> & {
  readonly model: Pick<RoutePlan['model'], 'context' | 'maxOutput' | 'maxAudioMs' | 'maxToolCalls'>;
};

/** Estimates a request. Returns no promise for a short body. `refersBy`: the field that adds content stored at the upstream. */
export function estimateOf(
  question: Question,
  route: Route,
  routePlan: Asked,
  refersBy?: string,
): RequestEstimate | Promise<RequestEstimate> {
  const { tiers } = routePlan;
  if (route.row.counting === 'messages' || route.row.counting === 'contents') {
    return estimateOfMessages(question, route, routePlan, refersBy);
  }
  if (route.own !== undefined) return forAnything(question, route, route.own, routePlan.model);
  if (route.row.counting === 'images') return forImages(question, routePlan.model);
  if (route.row.counting === 'speech') return forSpeech(question, routePlan.model);
  if (route.row.counting === 'recording') return forRecording(question, routePlan.model);
  const list = listIn(question, route);
  if (list?.kind !== 'array') return withAdded(toRequestEstimate(question, route, tiers, list, one, 0), tiers);
  if (!mayHoldImages(route, list)) return withAdded(toRequestEstimate(question, route, tiers, list, list, 0), tiers);
  // The elements of the list are parts of one input, such as a text and a picture.
  const withImages = (images: number): RequestEstimate =>
    withAdded(toRequestEstimate(question, route, tiers, list, one, images), tiers);
  const images = imagesIn(question.body, list);
  return list.end - list.start > oneSliceBytes ? timeSliced(images).then(withImages) : withImages(atOnce(images));
}

function estimateOfMessages(
  question: Question,
  route: Route,
  routePlan: Asked,
  refersBy: string | undefined,
): RequestEstimate | Promise<RequestEstimate> {
  const { row } = route;
  if (!row.billedBy.includes('input')) return forOne;
  const looking = conversationIn(question.body, row.beyondText ?? []);
  const toRequestEstimate = (looked: Conversation): RequestEstimate => {
    const found = refersBy === undefined ? looked : { ...looked, beyond: refersBy };
    if (row.counting === 'contents') return forContents(question, route, routePlan.model, found);
    return forMessages(question, row, routePlan, found);
  };
  return question.body.length <= oneSliceBytes
    ? toRequestEstimate(atOnce(looking))
    : timeSliced(looking).then(toRequestEstimate);
}

/** The estimate for operations that are counted by requests only. */
const forOne: RequestEstimate = Object.freeze({ ...forNothing, items: 1 });

/** Adds the tokens that targets add to each item, such as a template. */
function withAdded(estimate: RequestEstimate, tiers: Tiers): RequestEstimate {
  let input = 0;
  let output = 0;
  for (const tier of tiers) {
    for (const { offer } of tier) {
      if (offer.addedTokens === undefined) continue;
      input = Math.max(input, offer.addedTokens.input);
      output = Math.max(output, offer.addedTokens.output);
    }
  }
  if (input === 0 && output === 0) return estimate;
  return {
    ...estimate,
    mostInputTokens: estimate.mostInputTokens + input * estimate.items,
    mostOutputTokens: Math.min(estimate.mostOutputTokens + output * estimate.items, mostTokens),
  };
}

function toRequestEstimate(
  question: Question,
  route: Route,
  tiers: Tiers,
  list: JsonField | undefined,
  count: ItemCount,
  images: number,
): RequestEstimate {
  switch (route.row.counting) {
    case 'prompts':
      return forPrompts(question, tiers, list, count);
    case 'edit':
      return forEdit(question, tiers);
    case 'documents':
      return forDocuments(question, list, count);
    default:
      return forInputs(question, list, count, images);
  }
}

/** The list of prompts, inputs or documents, or the field that stands in for it. */
export function listIn({ scan: { fields } }: Question, { row: { items } }: Route): JsonField | undefined {
  let list: JsonField | undefined;
  for (const name of items) {
    list = fields.get(name);
    if (list !== undefined && list.kind !== 'null') return list;
  }
  return list;
}

/** Number of items; a list of numbers is one text, given as its tokens. */
const itemsIn = (list: JsonField | undefined, { elements }: ItemCount): number =>
  list?.firstElement === 'number' ? 1 : elements;

/** Estimates a chat: the whole conversation is processed each time. Images, and content outside the body, may fill the model's context. */
function forMessages(
  question: Question,
  row: OperationRow,
  { tiers, model }: Asked,
  { media, mediaBytes, beyond }: Conversation,
): RequestEstimate {
  const { body } = question;
  const { context, maxOutput } = model;
  const choices = choicesIn(question, choiceNames);
  const tools = toolsIn(question, row);
  const around = templateTokens + tools.described * toolsTokens;
  const written = mostTokensEach(question, tiers, maxOutput ?? boundlessMaxTokens, row.mostBy);
  const most = Math.min(written, maxOutput ?? mostTokens);
  const terms = termsIn(question);
  const estimate: RequestEstimate = {
    items: 1,
    images: 0,
    likelyInputTokens: Math.ceil((body.length - mediaBytes) / bytesPerToken) + media * tokensPerImage,
    mostInputTokens:
      beyond === undefined ? Math.min(body.length + around, context ?? mostTokens) : (context ?? body.length),
    mostOutputTokens: Math.min(most * choices, mostTokens),
    mostSearchUnits: 0,
    ...(choices > 1 && { choices }),
    ...(terms !== undefined && { terms }),
    isStream: isStreamAsked(question),
    ...(tools.hosted !== undefined && { unbounded: tools.hosted }),
    ...(beyond !== undefined && context === undefined && { unbounded: beyond }),
  };
  const field = tools.reported?.areSure === true ? (row.searchedBy ?? 'tools') : 'tools';
  return withMore(question, withTools(estimate, tools.reported, field, model), model);
}

function forPrompts(question: Question, tiers: Tiers, list: JsonField | undefined, count: ItemCount): RequestEstimate {
  // An empty list may be a prompt without tokens.
  const items = Math.max(itemsIn(list, count), 1);
  const choices = choicesIn(question, [...choiceNames, 'best_of']);
  const most = mostTokensEach(question, tiers, standardMaxTokens);
  return {
    items,
    images: 0,
    likelyInputTokens: likelyTokens(question, list, count),
    mostInputTokens: question.body.length,
    mostOutputTokens: Math.min(most * choices * items, mostTokens),
    mostSearchUnits: 0,
    ...(choices * items > 1 && { choices: choices * items }),
    isStream: isStreamAsked(question),
  };
}

function choicesIn(question: Question, names: readonly string[]): number {
  let most = 1;
  for (const name of names) most = Math.max(most, Math.ceil(numberIn(question, name) ?? 1));
  return Math.min(most, mostChoices);
}

/** Tokens of the longest answer: by the client's limit, else by the upstreams' default. */
function mostTokensEach(question: Question, tiers: Tiers, standard: number, name = 'max_tokens'): number {
  const limit = numberIn(question, name);
  let most = limit === undefined ? mostTokensUnasked(question, tiers, standard, name) : toLimit(limit);
  for (const other of otherLimitNames) {
    const said = numberIn(question, other);
    if (said !== undefined) most = Math.max(most, toLimit(said));
  }
  return most;
}

function mostTokensUnasked({ scan }: Question, tiers: Tiers, standard: number, name: string): number {
  let most = scan.fields.get(name) === undefined ? standard : boundlessMaxTokens;
  for (const tier of tiers) for (const candidate of tier) most = Math.max(most, unaskedLimitOf(candidate));
  return most;
}

function toLimit(tokens: number): number {
  return tokens <= 0 ? boundlessMaxTokens : Math.min(Math.ceil(tokens), mostTokens);
}

/** The answer's limit at a target whose service sets none by default: the operator's default for the target, else the assumed limit. */
function unaskedLimitOf({ offer, target: { defaults } }: Candidate): number {
  if (offer.isUnlimited !== true) return 0;
  const set = numberOf(defaults.max_tokens) ?? numberOf(defaults.max_completion_tokens);
  return set === undefined ? boundlessMaxTokens : toLimit(set);
}

/** Estimates an edit, which is about as long as its input; a chat model may write more. */
function forEdit(question: Question, tiers: Tiers): RequestEstimate {
  const { length } = question.body;
  const choices = Math.max(numberIn(question, 'n') ?? 1, 1);
  const most = Math.max(mostTokensEach(question, tiers, length), length);
  return {
    items: 1,
    images: 0,
    likelyInputTokens: Math.ceil(length / bytesPerToken),
    mostInputTokens: length,
    mostOutputTokens: Math.min(most * Math.min(Math.ceil(choices), mostChoices), mostTokens),
    mostSearchUnits: 0,
    isStream: false,
  };
}

/** Estimates a rerank request: the reranker processes the query with each document. */
function forDocuments({ body, scan }: Question, list: JsonField | undefined, { elements }: ItemCount): RequestEstimate {
  const queryBytes = sizeOf(scan.fields.get('query'));
  const documentBytes = sizeOf(list);
  const partTokens = Math.max(tokensPerPart - queryBytes, fewestTokensPerPart);
  const parts = elements + Math.floor(documentBytes / partTokens);
  return {
    items: elements,
    images: 0,
    likelyInputTokens: Math.ceil(documentBytes / bytesPerToken) + elements * Math.ceil(queryBytes / bytesPerToken),
    mostInputTokens: body.length + queryBytes * elements,
    mostOutputTokens: 0,
    mostSearchUnits: Math.max(Math.ceil(parts / documentsPerSearchUnit), 1),
    isStream: false,
  };
}

function forInputs(question: Question, list: JsonField | undefined, count: ItemCount, images: number): RequestEstimate {
  const { body } = question;
  return {
    items: itemsIn(list, count),
    images,
    // An image may be megabytes of base64, and counts little.
    likelyInputTokens: images > 0 ? images * tokensPerImage : likelyTokens(question, list, count),
    mostInputTokens: body.length,
    mostOutputTokens: 0,
    mostSearchUnits: 0,
    isStream: false,
  };
}

/** Likely number of input tokens: exact for lists of tokens, estimated by length for texts. */
function likelyTokens({ body }: Question, list: JsonField | undefined, { values }: ItemCount): number {
  if (list === undefined || list.kind === 'null') return Math.ceil(body.length / bytesPerToken);
  const isTokens = list.firstElement === 'number' || list.firstElement === 'array';
  return isTokens ? values : Math.ceil(sizeOf(list) / bytesPerToken);
}

const mayHoldImages = ({ row }: Route, { firstElement }: JsonField): boolean =>
  row.counting === 'inputs and images' && firstElement === 'object';

function* imagesIn(body: Buffer, { start, end }: JsonField): Generator<undefined, number, undefined> {
  let count = 0;
  let looks = 0;
  for (let at = body.indexOf(imageKey, start); at !== -1 && at < end; at = body.indexOf(imageKey, at)) {
    at += imageKey.length;
    while ((body[at] ?? 0) <= SPACE && at < end) at++;
    if (body[at] === COLON) count++;
    looks += 1;
    if (looks % looksPerPiece === 0) yield;
  }
  return count;
}

function sizeOf(field: JsonField | undefined): number {
  return field === undefined ? 0 : Math.max(field.end - field.start - 2, 0);
}

type ModelBounds = Pick<RoutePlan['model'], 'context' | 'maxOutput'>;

/** Adds output beyond the answer's limit: predicted text, reasoning, and the summary of a compacted conversation. */
function withMore(question: Question, estimate: RequestEstimate, { context, maxOutput }: ModelBounds): RequestEstimate {
  const foretold = lengthOf(question, 'prediction') * (estimate.choices ?? 1);
  // Between tool calls a model may reason for longer than one answer; the answer's limit does not apply.
  const thought = numberIn(question, 'thinking.budget_tokens') ?? 0;
  const beyond = foretold + (thought >= estimate.mostOutputTokens ? thought : 0);
  const more =
    beyond === 0
      ? estimate
      : { ...estimate, mostOutputTokens: Math.min(estimate.mostOutputTokens + beyond, mostTokens) };
  if (lengthOf(question, 'context_management') === 0) return more;
  // The whole conversation is processed once more, and summarised.
  if (maxOutput === undefined) return { ...more, unbounded: more.unbounded ?? 'context_management' };
  return {
    ...more,
    mostInputTokens: Math.min(more.mostInputTokens + (context ?? more.mostInputTokens), mostTokens),
    mostOutputTokens: Math.min(more.mostOutputTokens + maxOutput, mostTokens),
  };
}

/** The field's length in bytes; the whole body's if another spelling of the name is there, which some upstreams read. */
function lengthOf({ body, scan }: Question, name: string): number {
  const field = scan.fields.get(name);
  if (field === undefined) return scan.foldedOnly.includes(name) ? body.length : 0;
  return field.kind === 'null' ? 0 : field.end - field.start;
}
