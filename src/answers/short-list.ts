/** Checks the response to a list on the untranslated path: one result per item, and the width of the first vector. */

import { Buffer } from 'node:buffer';
import type { Usage } from '../core/accounting/usage.ts';
import { inOnePiece } from '../core/call-body.ts';
import type { Exchange } from '../core/exchange.ts';
import { listOperations } from '../core/lists.ts';
import { type Answer, type AnswerSink, type Failure, misfit } from '../core/outcome.ts';
import { OPEN_BRACKET } from '../lib/json/json-tokens.ts';
import { JsonWalk, JsonWalkError } from '../lib/json/json-walk.ts';
import { codingsOf } from '../lib/raw-headers.ts';
import type { Plan } from '../plan/planned-call.ts';
import type { Question } from '../plan/question.ts';
import type { UsageObserver } from '../plan/usage/usage.ts';
import { decodeAll } from './decoding.ts';
import { observerOf } from './relay.ts';
import { untilGone } from './until-gone.ts';
import { otherWidthIn, valueAfterName, type Width, widthFor, wrongWidth } from './vector-width.ts';

/** Limit of an answer that is checked completely; of a longer one only the first vector is checked. */
const mostBytes = 64 * 1024;
const mostDecodedBytes = 1024 * 1024;
const shortBytes = 4 * 1024;

interface Results {
  readonly lists: readonly string[];
  /** The member that each result has, as bytes; below it, as text. */
  readonly key: Buffer;
  readonly keyText: string;
  readonly words: readonly [results: string, items: string];
}

const results: Readonly<Partial<Record<string, Results>>> = {
  embeddings: resultsIn(['data'], '"embedding"', ['vectors', 'inputs']),
  rerank: resultsIn(['results', 'data'], '"index"', ['results', 'documents']),
  moderations: resultsIn(['results'], '"categories"', ['results', 'inputs']),
};

function resultsIn(lists: Results['lists'], keyText: string, words: Results['words']): Results {
  return { lists, key: Buffer.from(keyText), keyText, words };
}

/** What is wrong with an answer. For a wrong vector width, usage must still be counted. */
export type Fault = Failure | { readonly width: Width; readonly came: number };

/** The fault of an answer; undefined for a correct answer, and for one that is not checked. */
export function faultIn(plan: Plan, answer: Answer): Fault | undefined | Promise<Fault | undefined> {
  const { operation, label } = plan.route;
  // Translated answers were checked when they were read.
  if (!listOperations.has(operation) || answer.translated !== undefined) return undefined;
  if (answer.status !== 200 || answer.meantStatus !== undefined) return undefined;
  if (label !== 'openai' && label !== 'engines') return undefined;
  const wanted = answer.ended ? wantedOf(plan) : 0;
  const width = operation === 'embeddings' ? widthFor(plan) : undefined;
  if (wanted === 0 && width === undefined) return undefined;
  const isWhole = answer.ended && lengthOf(answer.waiting) <= mostBytes;
  const codings = codingsOf(answer.headers);
  if (!isWhole) return width !== undefined && codings.length === 0 ? otherWidthIn(firstOf(answer), width) : undefined;
  const bytes = inOnePiece(answer.waiting);
  if (codings.length === 0) return judge(plan, bytes, wanted, width);
  return decodeAll(bytes, codings, mostDecodedBytes).then((plain) => plain && judge(plan, plain, wanted, width));
}

/** Converts a fault to a failure; the answer is not passed on. With a wrong width it is read to its end for its usage. */
export function failureOf(fault: Fault, { exchange }: Plan, answer: Answer): Failure | Promise<Failure> {
  if ('code' in fault) return fault;
  const { width, came } = fault;
  const counted = countIn(exchange, answer);
  return counted instanceof Promise
    ? counted.then((usage) => wrongWidth(width, came, usage))
    : wrongWidth(width, came, counted);
}

const lengthOf = (pieces: readonly Buffer[]): number => pieces.reduce((sum, { length }) => sum + length, 0);

/** The received bytes of a long or incomplete answer: its first chunk, or a few short ones. */
function firstOf({ waiting }: Answer): Buffer {
  const [first] = waiting;
  if (first !== undefined && (waiting.length === 1 || first.length >= mostBytes)) return first;
  return Buffer.concat(waiting, Math.min(lengthOf(waiting), mostBytes));
}

function judge(plan: Plan, bytes: Buffer, wanted: number, width: Width | undefined): Fault | undefined {
  const shape = results[plan.route.operation];
  if (shape === undefined) return undefined;
  const { lists, words } = shape;
  // Numbers contain no quotes: only the names are examined.
  if (countKeys(bytes, shape, wanted) < wanted) {
    const count = countResults(bytes, lists);
    if (count !== undefined && count < wanted) return misfit(`${count} ${words[0]} for ${wanted} ${words[1]}`);
  }
  return width && otherWidthIn(bytes, width);
}

/** Counts occurrences of the member that each result has, up to `enough`. */
function countKeys(bytes: Buffer, { key, keyText }: Results, enough: number): number {
  const { length } = key;
  // Searching bytes has a start-up cost: a short body is searched as text.
  const text = bytes.length <= shortBytes ? bytes.toString('latin1') : undefined;
  const next = (from: number): number => (text === undefined ? bytes.indexOf(key, from) : text.indexOf(keyText, from));
  let count = 0;
  for (let at = next(0); at !== -1 && count < enough; at = next(at + length)) {
    if (valueAfterName(bytes, at + length) !== -1) count += 1;
  }
  return count;
}

/** Counts the elements of the list of results; undefined where the body has no such list, or cannot be parsed. */
function countResults(bytes: Buffer, lists: readonly string[]): number | undefined {
  const walk = new JsonWalk(bytes, bytes.indexOf('{'));
  let count: number | undefined;
  try {
    walk.object((name) => {
      const isList = count === undefined && lists.includes(name) && walk.peek() === OPEN_BRACKET;
      if (!isList) {
        walk.value();
        return;
      }
      count = 0;
      walk.list((index) => {
        walk.value();
        count = index + 1;
      });
    });
  } catch (error) {
    if (error instanceof JsonWalkError) return undefined;
    throw error;
  }
  return count;
}

/** The number of results that the answer must have; 0 where that is unknown. */
function wantedOf({ exchange, question, route }: Plan): number {
  const items = exchange.estimate?.items ?? 0;
  if (route.operation !== 'rerank') return items;
  return Math.min(items, topIn(question, 'top_n'), topIn(question, 'top_k'));
}

function topIn({ body, scan }: Question, name: string): number {
  const field = scan.fields.get(name);
  if (field === undefined || field.kind === 'null') return Number.POSITIVE_INFINITY;
  const top = field.kind === 'number' ? Number(body.toString('latin1', field.start, field.end)) : 0;
  return Number.isInteger(top) && top > 0 ? top : 0;
}

function countIn(exchange: Exchange, answer: Answer): Usage | null | Promise<Usage | null> {
  const observer = observerOf(exchange, answer);
  if (!answer.ended)
    return untilGone(exchange, answer, new Promise((resolve) => answer.take(new Count(observer, resolve))));
  for (const piece of answer.waiting) observer.push(piece);
  return observer.finish();
}

class Count implements AnswerSink {
  readonly #observer: UsageObserver;
  readonly #resolve: (usage: Usage | null | Promise<Usage | null>) => void;

  constructor(observer: UsageObserver, resolve: (usage: Usage | null | Promise<Usage | null>) => void) {
    this.#observer = observer;
    this.#resolve = resolve;
  }

  onChunk(chunk: Buffer): boolean {
    this.#observer.push(chunk);
    return true;
  }

  onEnd(): void {
    this.#resolve(this.#observer.finish());
  }

  onBroken(): void {
    this.#resolve(this.#observer.finish(true));
  }
}
