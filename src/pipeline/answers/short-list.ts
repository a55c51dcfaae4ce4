/** Judges the answer to a list that came in one go: whether there is a result for each item, and how wide the first vector is. */

import { Buffer } from 'node:buffer';
import type { Usage } from '../../core/accounting/usage.ts';
import { listOperations } from '../../core/lists.ts';
import { type Answer, type Failure, misfit } from '../../core/outcome.ts';
import { type JsonField, textOf } from '../../lib/json/json-scan.ts';
import { JsonWalk, JsonWalkError } from '../../lib/json/json-walk.ts';
import { codingsOf } from '../../lib/raw-headers.ts';
import type { Plan } from '../calls/plan.ts';
import { listIn } from '../usage/asking.ts';
import { numberIn } from '../usage/number-in.ts';
import { decode } from './decoding.ts';
import { observerOf } from './relay.ts';

/** Longer ones pass as they come. */
const mostBytes = 64 * 1024;
const mostDecodedBytes = 1024 * 1024;

interface Results {
  /** The members that may hold them. */
  readonly lists: readonly string[];
  /** The member that each of them has. */
  readonly key: Buffer;
  readonly words: readonly [results: string, items: string];
}

const results: Readonly<Partial<Record<string, Results>>> = {
  embeddings: { lists: ['data'], key: Buffer.from('"embedding"'), words: ['vectors', 'inputs'] },
  rerank: { lists: ['results', 'data'], key: Buffer.from('"index"'), words: ['results', 'documents'] },
  moderations: { lists: ['results'], key: Buffer.from('"categories"'), words: ['results', 'inputs'] },
};

/** Undefined where it is what was asked for, or is not judged. */
export function faultIn(plan: Plan, answer: Answer): Failure | undefined | Promise<Failure | undefined> {
  const { operation, label } = plan.route;
  if (!answer.ended || !listOperations.has(operation) || answer.translated !== undefined) return undefined;
  if (answer.status !== 200 || answer.meantStatus !== undefined) return undefined;
  if (label !== 'openai' && label !== 'engines') return undefined;
  const wanted = wantedOf(plan);
  const width = operation === 'embeddings' ? widthFor(plan) : undefined;
  if (wanted === 0 && width === undefined) return undefined;
  const bytes = inOnePiece(answer.waiting);
  if (bytes.length > mostBytes) return undefined;
  const codings = codingsOf(answer.headers);
  if (codings.length === 0) return judge(plan, answer, bytes, wanted, width);
  return decoded(bytes, codings).then((plain) => plain && judge(plan, answer, plain, wanted, width));
}

function inOnePiece(pieces: readonly Buffer[]): Buffer {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
}

async function decoded(bytes: Buffer, codings: readonly string[]): Promise<Buffer | undefined> {
  let plain = bytes;
  for (const coding of codings) {
    const next = await decode(plain, coding, mostDecodedBytes);
    if (next === undefined || next === 'too-long') return undefined;
    plain = next;
  }
  return plain;
}

function judge(
  plan: Plan,
  answer: Answer,
  bytes: Buffer,
  wanted: number,
  width: Width | undefined,
): Failure | undefined | Promise<Failure | undefined> {
  const shape = results[plan.route.operation];
  if (shape === undefined) return undefined;
  const { key, lists, words } = shape;
  // Numbers hold no quotes: what stands between the names is passed over, and read by nobody.
  if (countKeys(bytes, key, wanted) < wanted) {
    const count = countResults(bytes, lists);
    if (count !== undefined && count < wanted) return misfit(`${count} ${words[0]} for ${wanted} ${words[1]}`);
  }
  const came = width === undefined ? undefined : widthIn(bytes, key);
  if (width === undefined || came === undefined || came === width.count) return undefined;
  const usage = usageIn(plan, answer);
  return usage instanceof Promise
    ? usage.then((counted) => wrongWidth(width, came, counted))
    : wrongWidth(width, came, usage);
}

const COLON = 0x3a;
const SPACE = 0x20;

function behindName(bytes: Buffer, at: number): number {
  let next = at;
  while ((bytes[next] ?? COLON) <= SPACE) next += 1;
  return bytes[next] === COLON ? next + 1 : -1;
}

/** As far as so many. */
function countKeys(bytes: Buffer, key: Buffer, enough: number): number {
  let count = 0;
  for (let at = bytes.indexOf(key); at !== -1 && count < enough; at = bytes.indexOf(key, at + key.length)) {
    if (behindName(bytes, at + key.length) !== -1) count += 1;
  }
  return count;
}

/** Undefined where it has no such list, or cannot be read. */
function countResults(bytes: Buffer, lists: readonly string[]): number | undefined {
  const walk = new JsonWalk(bytes, bytes.indexOf('{'));
  let count: number | undefined;
  try {
    walk.object((name) => {
      const isList = count === undefined && lists.includes(name) && walk.peek() === OPEN_LIST;
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

/** How many results there have to be at least; 0 where nobody can tell. */
function wantedOf({ exchange, question, route }: Plan): number {
  const items = exchange.asking?.items ?? 0;
  if (route.operation === 'rerank')
    return Math.min(items, ...[topIn(question.scan.fields.get('top_n')), topIn(question.scan.fields.get('top_k'))]);
  // Parts of one input, such as a text and a picture.
  const isOne = route.operation === 'moderations' && listIn(question, route)?.firstElement === 'object';
  return isOne ? Math.min(items, 1) : items;

  function topIn(field: JsonField | undefined): number {
    if (field === undefined || field.kind === 'null') return Number.POSITIVE_INFINITY;
    const top = field.kind === 'number' ? Number(question.body.toString('latin1', field.start, field.end)) : 0;
    return Number.isInteger(top) && top > 0 ? top : 0;
  }
}

interface Width {
  readonly count: number;
  readonly isAsked: boolean;
}

/** By these a client asks for other numbers than floats, of which some stand in one byte. */
const otherNumbers = ['dtype"', 'embedding_type"', 'embedding_types"'];

function widthFor({ question, resolved: { model } }: Plan): Width | undefined {
  const asked = numberIn(question, 'dimensions');
  const count = asked ?? model.dimensions;
  if (count === undefined || !Number.isInteger(count) || count < 1) return undefined;
  if (otherNumbers.some((name) => question.body.includes(name))) return undefined;
  const format = question.scan.fields.get('encoding_format');
  const isFloat = format?.kind !== 'string' || ['float', 'base64'].includes(textOf(question.body, format));
  return isFloat ? { count, isAsked: asked !== undefined } : undefined;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const bytesPerFloat = 4;

/** Of the first vector, by its commas; undefined where it is none of numbers. */
function widthIn(bytes: Buffer, key: Buffer): number | undefined {
  let at = -1;
  for (let name = bytes.indexOf(key); name !== -1 && at === -1; name = bytes.indexOf(key, name + key.length)) {
    at = behindName(bytes, name + key.length);
  }
  if (at === -1) return undefined;
  while ((bytes[at] ?? COLON) <= SPACE) at += 1;
  if (bytes[at] === QUOTE) {
    const end = bytes.indexOf(QUOTE, at + 1);
    const text = end === -1 ? '' : bytes.toString('latin1', at + 1, end).replaceAll('\\/', '/');
    const length = Buffer.byteLength(text, 'base64');
    return length > 0 && length % bytesPerFloat === 0 ? length / bytesPerFloat : undefined;
  }
  const end = bytes[at] === OPEN_LIST ? bytes.indexOf(CLOSE_LIST, at) : -1;
  if (end === -1 || bytes.subarray(at + 1, end).includes(OPEN_LIST)) return undefined;
  let commas = 0;
  for (let next = bytes.indexOf(COMMA, at); next !== -1 && next < end; next = bytes.indexOf(COMMA, next + 1))
    commas += 1;
  return commas === 0 && bytes.toString('latin1', at + 1, end).trim() === '' ? 0 : commas + 1;
}

function usageIn({ exchange }: Plan, answer: Answer): Usage | null | Promise<Usage | null> {
  const observer = observerOf(exchange, answer);
  for (const piece of answer.waiting) observer.push(piece);
  return observer.finish();
}

/** What a client asks for puts no target into cooldown; another answer would be paid for as well. */
function wrongWidth({ count, isAsked }: Width, came: number, served: Usage | null): Failure {
  const why = isAsked
    ? `"dimensions" asks for ${count}; leave it out, or ask the operator for a model that can shorten its vectors`
    : `the operator declares ${count} (models[].dimensions); tell the operator`;
  return {
    ...misfit(`vectors of ${came} numbers`),
    message: `The upstream answered with vectors of ${came} numbers, and ${why}.`,
    ...(isAsked && { ours: true }),
    isFinal: true,
    served,
  };
}
