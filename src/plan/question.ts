/** Parses a request body: mandatory fields with types, and the model name. */

import type { Buffer } from 'node:buffer';
import type { CallBody } from '../core/call-body.ts';
import { missingField } from '../core/client-api.ts';
import { GatewayError } from '../core/errors.ts';
import type { RequestHeaders } from '../core/exchange.ts';
import { modelFields } from '../core/model-fields.ts';
import type { Route } from '../core/route.ts';
import type { TextRole } from '../core/snapshot.ts';
import { type ApiWords, type RerankShape, rerankShapes } from '../core/translation.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import type { JsonSpan } from '../lib/json/json-elements.ts';
import {
  compileWatchedKeys,
  type JsonFault,
  type JsonField,
  type JsonKind,
  type JsonObjectScan,
  type JsonScan,
  kindBits,
  oneSliceBytes,
  scanJson,
  scanJsonSliced,
  textOf,
  type WatchedKeys,
} from '../lib/json/json-scan.ts';

export interface Question {
  readonly body: Buffer;
  readonly scan: JsonObjectScan;
  /** The body's `model`, even if the route has the model elsewhere. */
  readonly modelField: JsonField | undefined;
  /** Whether a field may name a further model to an upstream: see `other-models.ts`. */
  readonly mayNameOthers: boolean;
  /** The stand-in of a required field that is absent, such as `messages` for `input`: see `checkStandIn`. */
  readonly standIn: FoundStandIn | undefined;
  /** For client APIs: options that the operation's own fields cannot express. */
  readonly words: ApiWords | undefined;
  /** The role (query or passage) whose prefix was added to the texts. */
  readonly role?: TextRole | undefined;
  /** The model's fixed width, where the client asked for another. */
  readonly onlyWidth?: number | undefined;
  /** For requests that are forms: the form to send; `body` then holds its fields as JSON. */
  readonly form?: Form | undefined;
  readName?: string;
}

/** A form as it is sent, and the position of the model's name in it. */
export interface Form {
  readonly body: CallBody;
  readonly bytes: number;
  /** Position of the model's name in the multipart form; undefined where the form has none. */
  readonly model: NameSpan | undefined;
  /** Parts of the form, besides `model`, from which an upstream may read a model's name. */
  readonly otherModels: readonly NamedModel[];
  readonly fileBytes: number;
}

/** A model that a request names in its body, in a part of a form, or in the query. */
export interface NamedModel {
  /** The field's path, as error messages show it. */
  readonly param: string;
  readonly name: string;
  readonly at: JsonSpan | 'query';
}

export interface NameSpan {
  readonly start: number;
  readonly end: number;
  /** Set where the form has no `model` part, as the path names the model: the text around the name that is inserted. */
  readonly missing?: { readonly before: string; readonly after: string };
}

interface FoundStandIn {
  readonly field: string;
  readonly check: FieldCheck;
  readonly found: JsonField;
  readonly allowed: 'accepts_messages' | RerankShape;
}

export { oneSliceBytes };

export type QuestionReader = (body: Buffer) => Question | Promise<Question>;

const readers = new WeakMap<Route, QuestionReader>();
const formReaders = new WeakMap<Route, QuestionReader>();

/** The reader of a route's request bodies, compiled once. */
export function questionReaderOf(route: Route): QuestionReader {
  return getOrMake(readers, route, compileQuestionReader);
}

/** The reader of bodies in the operation's own format, to which requests of a client API are converted. */
export function canonicalReaderOf(route: Route): QuestionReader {
  return questionReaderOf(route.entry?.canonical ?? route);
}

/** The reader of the fields that a route's requests have as a form, compiled once. */
export function formReaderOf(route: Route): QuestionReader {
  return getOrMake(formReaders, route, ({ form, ...others }) =>
    compileQuestionReader({ ...others, required: form?.required ?? {} }),
  );
}

/** Compiles everything that depends only on the route. */
function compileQuestionReader(route: Route): QuestionReader {
  const required = Object.entries(route.required).map(([name, kinds]) => compileField(name, kinds, route));
  const optional = Object.entries(route.optional).map(([name, kinds]) => compileField(name, kinds, route));
  const standIns = new Map(
    Object.entries(route.standIns ?? {}).map(([field, { name, kinds, allowed }]) => [
      field,
      { check: compileField(name, kinds, route), allowed },
    ]),
  );
  const modelName = modelFieldOf(route);
  const known = new Set([
    ...(modelName === undefined ? [] : [modelName]),
    ...Object.keys(route.required),
    ...Object.keys(route.optional),
    ...route.watched,
    ...Object.values(route.standIns ?? {}).map(({ name }) => name),
  ]);
  const others = otherModelFieldsOf(route);
  const commonOthers = others.filter((name) => known.has(name));
  const rareOthers = others.filter((name) => !known.has(name));
  const watched: WatchedKeys = compileWatchedKeys([...known], rareOthers);
  const modelFromBody = route.model.from === 'body';

  function toQuestion(body: Buffer, scan: JsonScan): Question {
    if (!scan.ok) throw toError(scan);
    const modelField = modelName === undefined ? undefined : scan.fields.get(modelName);
    if (modelFromBody && modelField !== undefined && modelField.kind !== 'null' && modelField.kind !== 'string') {
      throw wrongKind(modelField.name, 'a string', describe(modelField));
    }
    let standIn: Question['standIn'];
    for (const check of required) {
      const field = fieldIn(scan, check.name);
      if (field !== undefined) {
        check.judge(field);
        continue;
      }
      const other = standIns.get(check.name);
      const otherField = other === undefined ? undefined : fieldIn(scan, other.check.name);
      if (other === undefined || otherField === undefined) throw missingField(check.name, check.wanted);
      const { allowed } = other;
      if (allowed === 'accepts_messages' && otherField.kind !== 'array') throw missingField(check.name, check.wanted);
      standIn = { field: check.name, check: other.check, found: otherField, allowed };
    }
    for (const check of optional) {
      const field = fieldIn(scan, check.name);
      if (field !== undefined) check.judge(field);
    }
    const mayNameOthers =
      scan.hasRare || commonOthers.some((name) => fieldIn(scan, name) !== undefined || scan.foldedOnly.includes(name));
    return { body, scan, modelField, mayNameOthers, standIn, words: undefined };
  }

  return (body) =>
    body.length <= oneSliceBytes
      ? toQuestion(body, scanJson(body, watched))
      : scanJsonSliced(body, watched).then((scan) => toQuestion(body, scan));
}

/** Checks whether the stand-in is permitted: for the model, or for the client's service. Throws if not. */
export function checkStandIn({ standIn }: Question, acceptsMessages: boolean, shape: RerankShape | undefined): void {
  if (standIn === undefined) return;
  const { field, check, found, allowed } = standIn;
  if (allowed === 'accepts_messages' && !acceptsMessages) {
    throw missingField(field, `it ("${check.name}" in its place is for models marked accepts_messages)`);
  }
  if (allowed !== 'accepts_messages' && allowed !== shape) {
    throw missingField(field, `it ("${check.name}" in its place is for clients that send x-postern-shape: ${allowed})`);
  }
  check.judge(found);
}

/** The body's field for the model; undefined for routes with the model elsewhere. */
export function modelFieldOf({ own }: Route): string | undefined {
  if (own === undefined) return 'model';
  return own.model.from === 'field' ? own.model.name : undefined;
}

/** Top-level field names that may name another model to an upstream, or contain such names. */
function otherModelFieldsOf(route: Route): readonly string[] {
  const field = modelFieldOf(route)?.toLowerCase();
  const names = [...modelFields.map(({ name }) => name), ...(route.own === undefined ? [] : ['model'])];
  return names.filter((name) => name.toLowerCase() !== field);
}

/** The service whose form the request has, if its stand-in exists only in that service's API. */
export function shapeSaidBy({ standIn }: Question): RerankShape | undefined {
  return standIn === undefined || standIn.allowed === 'accepts_messages' ? undefined : standIn.allowed;
}

export function fieldIn({ fields }: JsonObjectScan, name: string): JsonField | undefined {
  const field = fields.get(name);
  return field?.kind === 'null' ? undefined : field;
}

/** Limit of a model name in the body. Names have at most 256 characters, of which each takes up to twelve bytes if it is escaped. */
const longestNameBytes = 4_096;

export function modelNameOf(question: Question): string | undefined {
  const { body, modelField } = question;
  if (modelField === undefined || modelField.kind !== 'string') return undefined;
  if (question.readName !== undefined) return question.readName;
  // A longer text is no name, and is not decoded.
  if (modelField.end - modelField.start > longestNameBytes)
    throw new GatewayError('model_not_found', { param: 'model' });
  question.readName = textOf(body, modelField);
  return question.readName;
}

interface FieldCheck {
  readonly name: string;
  readonly wanted: string;
  judge(field: JsonField): void;
}

/** Compiles a type such as `string | string[]` to a check of a field's value and its elements. */
function compileField(name: string, kinds: string, route: Route): FieldCheck {
  const plain = new Set<string>();
  const listsOf = new Set<string>();
  for (const kind of kinds.split('|').map((part) => part.trim())) {
    if (kind.endsWith('[]')) listsOf.add(kind.slice(0, -2));
    else plain.add(kind);
  }
  const anyList = plain.has('array');
  const allowed = kindBits(...jsonKinds.filter((kind) => listsOf.has(kind)));
  const wanted = toWords(kinds);

  function judge(field: JsonField): void {
    if (field.kind !== 'array') {
      if (!plain.has(field.kind)) throw wrongKind(name, wanted, describe(field));
      return;
    }
    if (anyList) return;
    if (listsOf.size === 0) throw wrongKind(name, wanted, describe(field));
    const elements = route.elements === 'all' ? field.elementKinds : kindBits(...firstOf(field));
    const strangers = elements & ~allowed;
    if (strangers !== 0) throw wrongKind(name, wanted, `an array with ${article(kindIn(strangers))} in it`);
  }

  return { name, wanted, judge };
}

const jsonKinds: readonly JsonKind[] = ['string', 'number', 'object', 'array', 'boolean', 'null'];

function firstOf({ firstElement }: JsonField): JsonKind[] {
  return firstElement === undefined ? [] : [firstElement];
}

function kindIn(mask: number): JsonKind {
  return jsonKinds.find((kind) => (mask & kindBits(kind)) !== 0) ?? 'null';
}

function wrongKind(name: string, wanted: string, came: string): GatewayError {
  return new GatewayError('invalid_type', {
    param: name,
    message: `The field "${name}" must be ${wanted}; ${came} came.`,
  });
}

function toError(scan: JsonFault): GatewayError {
  switch (scan.fault) {
    case 'syntax':
      return new GatewayError('invalid_json', {
        message: `The body is not valid JSON (at byte ${scan.at}); send one JSON object.`,
      });
    case 'utf8':
      return new GatewayError('invalid_json', {
        message: `The body is not valid UTF-8 (at byte ${scan.at}); send it as UTF-8.`,
      });
    case 'depth':
      return new GatewayError('body_too_deep');
    case 'duplicate':
      return duplicate(scan.name ?? '');
    case 'not-object':
      return new GatewayError('invalid_type', {
        message: `The body must be a JSON object; ${scan.kind === undefined ? 'something else' : article(scan.kind)} came.`,
      });
  }
}

export function duplicate(name: string): GatewayError {
  return new GatewayError('duplicate_parameter', {
    param: name,
    message: `The field "${name}" stands twice (letter case does not tell fields apart); keep one.`,
  });
}

function describe(field: JsonField): string {
  return article(field.kind);
}

function article(kind: JsonKind): string {
  return kind === 'null' ? 'null' : `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`;
}

/** Describes kinds such as `string | string[]` for people: "a string or an array of strings". */
function toWords(kinds: string): string {
  const plurals: Record<string, string> = { string: 'strings', number: 'numbers', object: 'objects', array: 'arrays' };
  const words = kinds.split('|').map((part) => {
    const kind = part.trim();
    if (!kind.endsWith('[]')) return `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`;
    return `an array of ${plurals[kind.slice(0, -2)] ?? kind}`;
  });
  const last = words.pop();
  return words.length === 0 ? `${last}` : `${words.join(', ')} or ${last}`;
}

/** The service named by the header `x-postern-shape` (rerank route only); undefined if it names no known one. */
export function shapeIn(route: Route, headers: RequestHeaders): RerankShape | undefined {
  const wanted = headers.get('x-postern-shape');
  if (wanted === undefined || route.operation !== 'rerank') return undefined;
  const name = wanted.toLowerCase();
  return rerankShapes.find((one) => one === name);
}

export function checkShape(route: Route, headers: RequestHeaders): void {
  if (headers.get('x-postern-shape') === undefined || route.operation !== 'rerank') return;
  if (shapeIn(route, headers) !== undefined) return;
  throw new GatewayError('unsupported_parameter', {
    param: 'x-postern-shape',
    message: `The header x-postern-shape names no shape that is known here; send one of ${rerankShapes.join(', ')}, or none.`,
  });
}
