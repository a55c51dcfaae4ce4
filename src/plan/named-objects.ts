/** Finds the stored objects that a request names. They are all in the operator's account, so that another file checks their owner. */

import type { Buffer } from 'node:buffer';
import { GatewayError } from '../core/errors.ts';
import type { ObjectNames } from '../core/operations/row.ts';
import type { Route } from '../core/route.ts';
import type { StoredName } from '../core/store/stored-objects.ts';
import { JsonPicker, type Picked } from '../lib/json/json-picker.ts';
import { textOf } from '../lib/json/json-scan.ts';
import {
  isJsonList,
  isJsonObject,
  type Json,
  type JsonObject,
  JsonTooMuch,
  readingJson,
} from '../lib/json/json-text.ts';
import { readJson } from '../lib/json/read-json.ts';
import { atOnce, timeSliced } from '../lib/time-slices.ts';
import { countNames, countTexts, hasEscapedLetter, isNameIn } from './json-names.ts';
import type { ParsingMemory } from './parsing-memory.ts';
import type { Question } from './question.ts';

/** The field, or object type, in which the ID was found. */
export interface Naming extends StoredName {
  readonly param: string;
}

export interface NamedObjects {
  /** IDs that the request only refers to: the objects must be the client's own. */
  readonly needed: readonly Naming[];
  /** IDs of objects that the request also contains in full: they may be of any origin, but not another owner's. */
  readonly mentioned: readonly Naming[];
}

/** A longer body that may name a stored object is refused unread. */
const longestReadBytes = 4 * 1024 ** 2;

/** Limit of values in a body that may name stored objects; real conversations are far smaller. */
const mostReadValues = 500_000;

const mostNamings = 5_000;

/** A body that is longer than this is searched in time slices, as it may consist of tiny values. */
const oneSliceBytes = 32 * 1024;

/** Limit of a field with an ID; no ID is longer, even if every character is escaped. */
const longestFieldBytes = 4_096;

/** Finds the stored objects that a request names. `isStrict`: refuses field names in another spelling, which upstreams read differently. Throws for objects that no client can own. */
export function namedObjectsIn(
  question: Question,
  { row: { objectNames } }: Route,
  memory: ParsingMemory,
  isStrict = false,
): NamedObjects | Promise<NamedObjects> {
  if (objectNames === undefined) return nothing;
  const { body, form } = question;
  // Forms write nested fields with brackets: `images[0][file_id]`.
  const bracketed = form === undefined ? undefined : objectNames.names.find((name) => body.includes(`[${name}]`));
  if (bracketed !== undefined) throw notStored(bracketed);
  const fields = fieldsIn(question, objectNames);
  const looking = look(body, objectNames, fields, memory, isStrict || form !== undefined);
  return body.length > oneSliceBytes ? timeSliced(looking) : atOnce(looking);
}

const nothing: NamedObjects = Object.freeze({ needed: Object.freeze([]), mentioned: Object.freeze([]) });

/** Objects named in top-level fields; the scan already proved that each field occurs once. */
function fieldsIn({ body, scan }: Question, { fields, known = {} }: ObjectNames): readonly Naming[] {
  const named: Naming[] = [];
  for (const param of fields) {
    if (scan.foldedOnly.includes(param)) throw notStored(param);
    const field = scan.fields.get(param);
    // `cohere` 4 for Python sends an empty `conversation_id` with every chat: it names nothing.
    const isEmpty = field?.kind === 'string' && field.end - field.start === '""'.length;
    if (field === undefined || field.kind === 'null' || isEmpty) continue;
    const kind = known[param];
    if (kind === undefined || field.kind !== 'string' || field.end - field.start > longestFieldBytes)
      throw notStored(param);
    named.push({ kind, id: textOf(body, field), param });
  }
  return named;
}

function* look(
  body: Buffer,
  objectNames: ObjectNames,
  fields: readonly Naming[],
  memory: ParsingMemory,
  isStrict: boolean,
): Generator<undefined, NamedObjects, undefined> {
  if (isStrict) yield* checkSpellings(body, objectNames.names);
  const { wholes = [], texts = {} } = objectNames;
  const names = [...objectNames.names, ...wholes];
  const types = Object.keys(objectNames.types ?? {});
  let written = 0;
  let suspect: string | undefined;
  for (const name of names) {
    const count = yield* countNames(body, name);
    if (count > 0) suspect ??= name;
    written += count;
  }
  for (const type of types) {
    const count = yield* countTexts(body, type);
    if (count > 0) suspect ??= type;
    written += count;
  }
  const isEscaped = yield* hasEscapedLetter(body);
  yield* checkTexts(body, texts, isEscaped);
  if (objectNames.links !== undefined && (isEscaped || mayHoldLink(body))) yield* checkLinks(body, objectNames.links);
  const items = isEscaped || (yield* countNames(body, 'id')) > 0 ? objectNames.items : undefined;
  const ids = items === undefined ? [] : yield* idsOfItems(body, items);
  if (suspect === undefined && !isEscaped && ids.length === 0) return { needed: fields, mentioned: ids };
  if (body.length > longestReadBytes) {
    if (suspect !== undefined || isEscaped) throw notStored(suspect ?? 'input');
    return { needed: fields, mentioned: ids };
  }
  const walk = new Walk(objectNames, fields, ids);
  yield* walk.through(yield* readingIn(body, suspect, memory));
  memory.release();
  if (isEscaped) written += yield* countEscaped(body.toString(), new Set(names), new Set(types));
  // Of repeated names some readers use the first, and others the last.
  if (walk.refused === undefined && walk.seen < written) throw notStored(suspect ?? 'input');
  if (walk.refused !== undefined) throw notStored(walk.refused);
  checkNumber(walk.needed);
  checkNumber(walk.mentioned);
  return walk;
}

function* readingIn(
  body: Buffer,
  suspect: string | undefined,
  memory: ParsingMemory,
): Generator<undefined, Json, undefined> {
  try {
    return yield* readingJson(body, { maxValues: mostReadValues }, memory.take);
  } catch (error) {
    if (!(error instanceof JsonTooMuch)) throw error;
    throw notStored(suspect ?? 'input');
  }
}

const nameInJson = /("(?:[^"\\]|\\.){2,80}")\s{0,8}:/g;
/** Overlap of two pieces that are searched; longer than any field name with its quotes and colon. */
const overlapBytes = 512;

const folded = (name: string): string =>
  name
    .toUpperCase()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '');

/** Refuses other spellings: some upstreams read `fileId` and `File_id` as `file_id`; parts of forms append further names in brackets. */
function* checkSpellings(body: Buffer, names: readonly string[]): Generator<undefined, void, undefined> {
  const known = new Map(names.map((name) => [folded(name), name]));
  for (let start = 0; start < body.length; start += bytesPerPiece) {
    const piece = body.toString('utf8', start, start + bytesPerPiece + overlapBytes);
    for (const [, quoted = ''] of piece.matchAll(nameInJson)) {
      const said = decodedName(quoted);
      for (const step of said.split(/[[\].]+/)) {
        const name = known.get(folded(step));
        if (name !== undefined && !names.includes(step)) throw notStored(name);
      }
    }
    yield;
  }
}

function decodedName(quoted: string): string {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  // The match may begin in one text and end in another: it is then no JSON.
  return String(readJson(quoted) ?? '');
}

/** The IDs of all items of a list, even several IDs of one item. */
function* idsOfItems(body: Buffer, items: string): Generator<undefined, Naming[], undefined> {
  const namings = new Map<string, Naming>();
  yield* pick(body, [`${items}.*.id`], (picked) => {
    for (const { text } of picked) namings.set(text, { kind: 'item', id: text, param: items });
    checkNumber([...namings.values()]);
  });
  return [...namings.values()];
}

function* checkTexts(
  body: Buffer,
  texts: NonNullable<ObjectNames['texts']>,
  isEscaped: boolean,
): Generator<undefined, void, undefined> {
  let mayStandThere = isEscaped;
  for (const param of Object.values(texts)) mayStandThere ||= yield* isNameIn(body, param);
  if (!mayStandThere) return;
  yield* pick(body, Object.keys(texts), ([first]) => {
    const param = first && texts[first.path];
    if (param !== undefined) throw notStored(param);
  });
}

const isLink = /^gs:/i;

/** Whether a text begins like a `gs://` address, in either letter case; escaped letters are searched for elsewhere. */
const mayHoldLink = (body: Buffer): boolean => ['gs', 'gS', 'Gs', 'GS'].some((begins) => body.includes(`"${begins}`));

/** Refuses addresses in the operator's storage, which no client owns. */
function* checkLinks(body: Buffer, links: NonNullable<ObjectNames['links']>): Generator<undefined, void, undefined> {
  yield* pick(body, Object.keys(links), (picked) => {
    const link = picked.find(({ text }) => isLink.test(text));
    const param = link && links[link.path];
    if (param !== undefined) throw notStored(param);
  });
}

/** Picks the values at the locations, piece by piece of the body; `take` gets those that end in the piece. */
function* pick(
  body: Buffer,
  locations: readonly string[],
  take: (picked: readonly Picked[]) => void,
): Generator<undefined, void, undefined> {
  const picker = new JsonPicker(locations);
  for (let start = 0; start < body.length; start += bytesPerPiece) {
    if (start > 0) yield;
    const picked: Picked[] = [];
    picker.push(body, picked, start, Math.min(start + bytesPerPiece, body.length));
    if (picked.length > 0) take(picked);
  }
}

/** Refuses a request with too many IDs: each is looked up, which would slow the store down for others. */
function checkNumber(namings: readonly Naming[]): void {
  const beyond = namings[mostNamings];
  if (beyond === undefined) return;
  throw new GatewayError('unsupported_parameter', {
    param: beyond.param,
    message: `The request names more than ${mostNamings} objects that an upstream keeps; leave the "id" out of items that stand in it in full, or go on with "previous_response_id".`,
  });
}

/** Limits of the work between two points where a search may pause: texts, values and bytes. */
const textsPerPiece = 4_096;
const valuesPerPiece = 1_024;
const bytesPerPiece = 128 * 1024;

/** Counts names and types that are written with escapes, which a search of the bytes misses. */
function* countEscaped(
  text: string,
  names: ReadonlySet<string>,
  types: ReadonlySet<string>,
): Generator<undefined, number, undefined> {
  let count = 0;
  let looks = 0;
  for (const [, quoted = '', colon] of text.matchAll(/("(?:[^"\\]|\\.)*")\s*(:?)/gs)) {
    looks += 1;
    if (looks % textsPerPiece === 0) yield;
    if (!quoted.includes('\\')) continue;
    const said: unknown = JSON.parse(quoted);
    if (typeof said === 'string' && (colon === ':' ? names : types).has(said)) count += 1;
  }
  return count;
}

/** A value's position: whether it is in a name, and in an item of the conversation. */
interface ObjectLocation {
  readonly value: Json | undefined;
  readonly isExcepted: boolean;
  readonly isInItem: boolean;
  /** The field with the value, or with the list around it. */
  readonly field: string;
}

/** Finds object IDs in a parsed body. Properties of a JSON schema may have the same names, but hold objects, not IDs. */
class Walk implements NamedObjects {
  readonly needed: Naming[];
  readonly mentioned: Naming[];
  /** The first field with a name that no client can own. */
  refused: string | undefined = undefined;
  seen = 0;
  readonly #objectNames: ObjectNames;

  constructor(objectNames: ObjectNames, needed: readonly Naming[], mentioned: readonly Naming[]) {
    this.#objectNames = objectNames;
    this.needed = [...needed];
    this.mentioned = [...mentioned];
  }

  *through(body: Json): Generator<undefined, void, undefined> {
    const { items } = this.#objectNames;
    const list = items !== undefined && isJsonObject(body) ? body[items] : undefined;
    if (items !== undefined && isJsonList(list)) {
      for (const item of list) {
        if (isJsonObject(item) && typeof item.id === 'string' && !isWhole(item)) {
          this.needed.push({ kind: 'item', id: item.id, param: items });
        }
      }
    }
    const left: ObjectLocation[] = [{ value: body, isExcepted: false, isInItem: false, field: '' }];
    let looks = 0;
    for (let location = left.pop(); location !== undefined; location = left.pop()) {
      this.#lookAt(location, left, list);
      looks += 1;
      if (looks % valuesPerPiece === 0) yield;
    }
  }

  #lookAt(
    { value, isExcepted, isInItem, field }: ObjectLocation,
    left: ObjectLocation[],
    list: Json | undefined,
  ): void {
    const { names, wholes = [], types = {}, reported = [], except = [], outside } = this.#objectNames;
    if (typeof value === 'string' && Object.hasOwn(types, value)) this.seen += 1;
    if (isJsonList(value)) {
      for (const one of value) left.push({ value: one, isExcepted, isInItem: isInItem || value === list, field });
    }
    if (!isJsonObject(value)) return;
    for (const [name, inner] of Object.entries(value)) {
      const isKept = wholes.includes(name);
      if (isKept || names.includes(name)) {
        this.seen += 1;
        const ids = isKept ? wholesIn(inner) : idsIn(inner).filter((said) => outside?.test(said) !== true);
        if (!isExcepted) for (const id of ids) this.#name(name, id, isInItem && reported.includes(name));
      }
      const isLeftOut = except.includes(name) || except.includes(`${field}.${name}`);
      left.push({ value: inner, isExcepted: isExcepted || isLeftOut, isInItem, field: name });
    }
    const { type, id } = value;
    if (typeof type !== 'string' || !Object.hasOwn(types, type)) return;
    const held = types[type];
    if (held === undefined || typeof value[held] !== 'string') this.#name(type, id, false);
  }

  #name(param: string, id: Json | undefined, isReported: boolean): void {
    const kind = this.#objectNames.known?.[param];
    if (kind === undefined || typeof id !== 'string') this.refused ??= param;
    else (isReported ? this.mentioned : this.needed).push({ kind, id, param });
  }
}

/** Whether an item holds its content: without it, the upstream uses what it stored under the ID. */
function isWhole({ type, content, encrypted_content: sealed }: JsonObject): boolean {
  if (type === undefined || type === null) return content !== undefined && content !== null;
  if (type !== 'reasoning' && type !== 'compaction') return true;
  return typeof sealed === 'string' || (isJsonList(content) && content.length > 0);
}

/** For objects that a request contains in full: undefined for one without an ID, which has no owner. */
const wholesIn = (value: Json | undefined): readonly undefined[] => (isJsonObject(value) ? [undefined] : []);

function idsIn(value: Json | undefined): string[] {
  if (typeof value === 'string') return [value];
  if (isJsonList(value)) return value.filter((one) => typeof one === 'string');
  return isJsonObject(value) && typeof value.id === 'string' ? [value.id] : [];
}

/** The error for an object that the client does not own: the same for unknown, deleted and other owners' objects. */
export function notStored(param: string): GatewayError {
  return new GatewayError('object_not_found', {
    param,
    message: `What "${param}" names is not known here: of what an upstream keeps, only what was made through the gateway by the same project can be used; else send its content instead.`,
  });
}
