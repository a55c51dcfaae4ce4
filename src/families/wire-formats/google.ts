/** Translates embeddings and errors for Google's two services: task types, one text per call, unit vectors, errors with typed details. */

import { type Asked, type ErrorWireFormat, inputTypes } from '../../core/translation.ts';
import { isJsonList, type Json, type JsonObject } from '../../lib/json/json-text.ts';
import { toUnitLength } from '../../lib/unit-length.ts';
import type { EmbeddingCall, EmbeddingResult, EmbeddingWireFormat } from './embeddings/embeddings.ts';
import type { Adapt } from './embeddings/vectors.ts';
import { at, countIn, objectIn, textIn } from './reading.ts';

/** Fields about the task of a text: Google's own names, and the one that Cohere, Voyage and NVIDIA have for the same. */
export const ofTheTask = ['taskType', 'task_type', 'title', 'input_type'];

export const purposesInGoogle: NonNullable<EmbeddingWireFormat['purposes']> = {
  name: 'input_type',
  words: { document: 'document', query: 'query', classification: 'classification', clustering: 'clustering' },
};

/** Google's task types by `input_type`; only unambiguous ones. */
const taskTypes: Readonly<Record<string, string>> = {
  query: 'RETRIEVAL_QUERY',
  document: 'RETRIEVAL_DOCUMENT',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
};

/** The task type to send. `input_type` overrides `taskType`: where both are present, the latter is mostly the operator's default. */
export function taskTypeOf({ more, asked }: EmbeddingCall): Json | undefined {
  const { input_type: wanted } = more;
  const own = more.taskType ?? more.task_type;
  checkShort('taskType', own, asked);
  if (wanted === undefined) return own;
  const known = typeof wanted === 'string' && Object.hasOwn(taskTypes, wanted) ? taskTypes[wanted] : undefined;
  if (known !== undefined) return known;
  asked.cannot(
    'input_type',
    `knows it as one of ${[...inputTypes.keys()].join(', ')} here; "taskType" is its own name`,
  );
  return own;
}

export function titleOf({ more: { title }, asked }: EmbeddingCall): Json | undefined {
  checkShort('title', title, asked);
  return title;
}

/** Longest field that is repeated with each text of a call. */
const mostRepeatedCharacters = 4_096;

function checkShort(name: string, value: Json | undefined, asked: Asked): void {
  if (value === undefined || (typeof value === 'string' && value.length <= mostRepeatedCharacters)) return;
  throw asked.refusal(name, `takes a text of ${mostRepeatedCharacters} characters at most for it`);
}

export function toContent(item: Json): JsonObject {
  return { parts: [{ text: item }] };
}

/** Reads the answer to one text. For an empty list an empty text was sent, whose vector is ignored. */
export function readEmbedContent(body: Json, call: EmbeddingCall): EmbeddingResult {
  const { embedding, usageMetadata: usage } = objectIn(body, 'the answer');
  return {
    vectors: [vectorIn(embedding)].slice(0, call.items.length),
    adapt: adaptFor(call),
    promptTokens: countIn(at(usage, 'promptTokenCount')),
  };
}

export function vectorIn(embedding: Json | undefined): Json {
  return objectIn(embedding, 'an embedding').values ?? null;
}

/** A model whose vectors have unit length only at full width. */
const unevenModel = 'gemini-embedding-001';
const fullWidth = 3072;

/** Scales shortened vectors to unit length, as clients expect them to be comparable. */
export function adaptFor({ dimensions, model }: EmbeddingCall): Adapt | undefined {
  return dimensions !== undefined && model.includes(unevenModel) ? ofUnitLength : undefined;
}

const ofUnitLength: Adapt = (values) => (values.length >= fullWidth ? undefined : toUnitLength(values));

export const googleErrors: ErrorWireFormat = {
  // The other fields of Google's errors are the usual ones.
  read(body) {
    const details = detailsOf(errorIn(body));
    // The Gemini API reports a wrong key as a bad argument, which a client would take for its own.
    if (details.some((detail) => at(detail, 'reason') === 'API_KEY_INVALID')) {
      return {
        message: 'The upstream does not take the key that the gateway has for it; tell the operator.',
        isOurKey: true,
      };
    }
    const violations = details.map((detail) => at(detail, 'fieldViolations')).find(isJsonList);
    return { param: textIn(at(violations?.[0], 'field')) };
  },
  retryAfterS(body) {
    for (const detail of detailsOf(errorIn(body))) {
      const [, seconds] = /^(\d{1,9}(?:\.\d+)?)s$/.exec(textIn(at(detail, 'retryDelay')) ?? '') ?? [];
      if (seconds !== undefined) return Number(seconds);
    }
    return undefined;
  },
  // The texts of these errors name the operator's project.
  withheld: [401, 403],
};

function errorIn(body: Json | undefined): Json | undefined {
  return at(isJsonList(body) ? body[0] : body, 'error');
}

function detailsOf(error: Json | undefined): readonly Json[] {
  const details = at(error, 'details');
  return isJsonList(details) ? details : [];
}
