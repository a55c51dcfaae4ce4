/** Parses a rerank request in the variants of several client APIs. */

import { type Scoring, scoringOf } from '../../../core/scores.ts';
import { type Asked, type RerankShape, rerankShapeOf } from '../../../core/translation.ts';
import { isJsonList, isJsonObject, type Json, JsonNumber, type JsonObject } from '../../../lib/json/json-text.ts';
import { inSlices } from '../../../lib/time-slices.ts';
import { furtherOf, type ParameterRules } from '../parameters.ts';

export interface RerankTakes extends ParameterRules {
  /** The upstream takes objects as documents and queries, or as documents only; else the text of objects is sent. */
  readonly takesObjects?: boolean | 'documents';
  /** `top_n: 0` means all results. */
  readonly zeroIsAll?: boolean;
}

export interface RerankQuestion {
  readonly query: Json;
  /** The documents as sent to the upstream. */
  readonly documents: readonly Json[];
  /** The documents as the client sent them, for the answer. */
  readonly originals: readonly Json[];
  readonly topN: number | undefined;
  readonly withDocuments: boolean;
  /** The shape of the answer, chosen by the client or implied by its field names. */
  readonly shape: RerankShape | undefined;
  readonly scoring: Scoring | undefined;
  /** Further parameters: the wire format's own, and unknown ones where they may pass. */
  readonly more: JsonObject;
}

/** Fields that this file reads, some under several names. */
const handled = new Set(['model', 'query', 'documents', 'top_n', 'top_k', 'return_documents', 'rank_fields']);
/** Further fields that are read only for TEI's clients, which declare their shape. */
const ofTei = new Set(['texts', 'return_text']);

const ofTeiAlone = 'takes it only of clients that send x-postern-shape: tei';
/** Fields that are refused where they are not read. Without an effect, `raw_scores` would give useless scores. */
const refused = { texts: ofTeiAlone, return_text: ofTeiAlone, raw_scores: undefined };

export async function readRerankQuestion(asked: Asked, takes: RerankTakes): Promise<RerankQuestion> {
  const { takesObjects = false, own } = takes;
  const { body } = asked;
  const shape = rerankShapeOf(asked.shape, (name) => body[name] !== undefined);
  const name = shape === 'tei' && body.documents === undefined ? 'texts' : 'documents';
  const { [name]: listed } = body;
  if (!isJsonList(listed)) throw asked.refusal(name, 'wants a list of texts');
  const rankFields = own.includes('rank_fields') ? undefined : rankFieldsOf(asked);
  const scoring = scoringFor(asked);
  const query = body.query ?? '';
  return {
    query: takesObjects === true ? query : toText(query, asked, 'query'),
    documents:
      takesObjects !== false && rankFields === undefined
        ? listed
        : await inSlices(listed, (document) => toText(document, asked, name, rankFields)),
    originals: listed,
    topN: topNOf(asked, takes),
    withDocuments: withDocumentsOf(asked),
    shape,
    scoring,
    more: parametersOf(asked, takes, scoring),
  };
}

/** How scores are converted, where the operator or the client's API set their scale; `raw_scores` is then handled by the gateway. */
function scoringFor(asked: Asked): Scoring | undefined {
  const { scores, body, words } = asked;
  if (scores !== undefined && words?.prefersRawScores) return scoringOf(scores, 'preferred');
  if (scores?.wanted === undefined) return undefined;
  const { raw_scores: raw } = body;
  if (raw !== undefined && typeof raw !== 'boolean') throw asked.refusal('raw_scores', 'wants true or false here');
  return scoringOf(scores, raw);
}

/** The number of results: `top_k` counts where there is no `top_n`. */
function topNOf(asked: Asked, { zeroIsAll = false }: RerankTakes): number | undefined {
  const { body } = asked;
  const name = body.top_n === undefined ? 'top_k' : 'top_n';
  const { [name]: value } = body;
  if (value === undefined) return undefined;
  if (name === 'top_n' && body.top_k !== undefined)
    asked.canDoWithout('top_k', 'counts by "top_n", which is there too');
  const count = value instanceof JsonNumber ? value.value : Number.NaN;
  if (Number.isInteger(count) && count >= 1) return count;
  if (count === 0 && zeroIsAll) return undefined;
  throw asked.refusal(name, 'wants a whole number from 1 here');
}

function withDocumentsOf(asked: Asked): boolean {
  const { body, shape } = asked;
  const name = shape === 'tei' && body.return_documents === undefined ? 'return_text' : 'return_documents';
  // Jina returns documents by default.
  const { [name]: said = shape === 'jina' } = body;
  // Some clients write every value as text.
  const wanted = plainTextOf(said)?.toLowerCase();
  if (wanted === 'true' || wanted === 'false') return wanted === 'true';
  throw asked.refusal(name, 'wants true or false here');
}

const mostRankFields = 100;

/** The keys by which object documents are ranked, in order; undefined: the keys that hold the text. */
function rankFieldsOf(asked: Asked): readonly string[] | undefined {
  const fields = asked.body.rank_fields;
  if (fields === undefined) return undefined;
  const names = isJsonList(fields) ? fields.filter((name) => typeof name === 'string') : [];
  if (names.length === 0 || !isJsonList(fields) || names.length < fields.length) {
    throw asked.refusal('rank_fields', 'wants a list of names here');
  }
  const different = [...new Set(names)];
  // Each document is searched for each of these keys.
  if (different.length > mostRankFields)
    throw asked.refusal('rank_fields', `wants ${mostRankFields} names at most here`);
  return different;
}

/** The text of a document: a text itself; of an object its `text`, or the selected fields, a line each. */
function toText(value: Json, asked: Asked, name: string, rankFields?: readonly string[]): string {
  if (typeof value === 'string') return value;
  if (!isJsonObject(value)) throw asked.refusal(name, 'takes text only');
  const lines = (rankFields ?? []).flatMap((field) => {
    const text = plainTextOf(value[field]);
    if (text === undefined) return [];
    // A single field is sent as its text alone, several are labelled.
    return rankFields?.length === 1 ? [text] : [`${field}: ${text}`];
  });
  if (lines.length > 0) return lines.join('\n');
  if (typeof value.text === 'string') return value.text;
  const wanted = rankFields === undefined ? 'a "text"' : 'a "text", or one of the rank_fields';
  throw asked.refusal(name, `takes text only, so each object needs ${wanted}`);
}

/** A number counts as a text, as it was written. */
function plainTextOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (value instanceof JsonNumber) return value.source;
  return typeof value === 'boolean' ? String(value) : undefined;
}

function parametersOf(asked: Asked, takes: RerankTakes, scoring: Scoring | undefined): JsonObject {
  const isOwn = (name: string): boolean => takes.own.includes(name);
  const isHandled = (name: string, value: Json): boolean => {
    // Many clients always send `raw_scores: false`. True is what the upstream does if its scores are raw.
    const isGranted = value === false || (value === true && asked.scores?.scale === 'raw');
    if (name === 'raw_scores') return scoring !== undefined || (isGranted && !isOwn(name));
    return (handled.has(name) && !isOwn(name)) || (ofTei.has(name) && asked.shape === 'tei');
  };
  const more = furtherOf(asked, { ...takes, cannot: { ...refused, ...takes.cannot } }, isHandled);
  if (scoring?.raw) more.raw_scores = true;
  return more;
}
