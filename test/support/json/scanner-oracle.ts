/** Compares the JSON scanner with `JSON.parse`, as properties of any document. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  compileWatchedKeys,
  type JsonField,
  type JsonKind,
  type JsonScan,
  kindBits,
  scanJson,
  scanJsonHead,
  scanJsonSliced,
  textOf,
  type WatchedKeys,
} from '../../../src/lib/json/json-scan.ts';
import {
  changeToken,
  frequentKeys,
  type Member,
  members,
  mutate,
  mutation,
  someByte,
  soup,
  space,
  tokenChange,
  toMember,
  valueText,
} from './json-documents.ts';

interface Runs {
  readonly numRuns: number;
  readonly seed?: number;
}

export interface ScannerProperty {
  readonly title: string;
  /** How many documents it deserves beside the others. */
  readonly weight: number;
  /** Throws with the smallest document that it does not hold for, the seed and the path to it. */
  hold(runs: Runs): Promise<void>;
}

const watched = compileWatchedKeys(frequentKeys);
const nothingWatched = compileWatchedKeys([]);

/** The result of `JSON.parse` for the bytes, which must be UTF-8 and may not begin with a byte order mark. */
type Verdict = { readonly valid: true; readonly value: unknown } | { readonly valid: false };

function judge(body: Buffer): Verdict {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
    return { valid: true, value: JSON.parse(text) };
  } catch (error) {
    assert.ok(error instanceof SyntaxError || error instanceof TypeError);
    return { valid: false };
  }
}

function isUtf8Text(body: Buffer): boolean {
  return Buffer.from(body.toString()).equals(body);
}

function kindOf(value: unknown): JsonKind {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const kind = typeof value;
  assert.ok(kind === 'string' || kind === 'number' || kind === 'object' || kind === 'boolean');
  return kind;
}

/** Scans at once and in turns of some bytes, which must come to the same. */
async function scanBothWays(body: Buffer, keys: WatchedKeys, bytesPerPiece: number): Promise<JsonScan> {
  const scan = scanJson(body, keys, 1000);
  assert.deepEqual(await scanJsonSliced(body, keys, { maxDepth: 1000, bytesPerPiece }), scan);
  return scan;
}

/** Fails if the scanner's result for the bytes differs from `JSON.parse`. Watched fields and depth do not matter here. */
export async function assertAgreement(body: Buffer, bytesPerPiece: number): Promise<void> {
  const verdict = judge(body);
  const scan = await scanBothWays(body, nothingWatched, bytesPerPiece);
  if (scan.ok) {
    assert.ok(verdict.valid);
    assert.equal(kindOf(verdict.value), 'object');
    assert.equal(scan.empty, Object.keys(verdict.value ?? {}).length === 0);
    return;
  }
  switch (scan.fault) {
    case 'not-object':
      assert.ok(verdict.valid);
      assert.equal(scan.kind, kindOf(verdict.value));
      assert.notEqual(scan.kind, 'object');
      break;
    case 'utf8':
      assert.equal(isUtf8Text(body), false);
      assert.equal(isUtf8Text(body.subarray(0, scan.at)), true);
      break;
    default:
      assert.equal(scan.fault, 'syntax');
      assert.equal(verdict.valid, false);
      pointsAtTheFirstFault(body, scan.at);
  }
}

/** Up to the fault the document could still have become valid or was complete; with the byte at fault it is neither. */
function pointsAtTheFirstFault(body: Buffer, at: number): void {
  const before = scanJson(body.subarray(0, at), nothingWatched, 1000);
  if (!before.ok && before.fault === 'syntax') assert.equal(before.at, at);
  if (at === body.length) return;
  const including = scanJson(body.subarray(0, at + 1), nothingWatched, 1000);
  assert.deepEqual(including, { ok: false, fault: 'syntax', at });
}

const fold = (text: string): string => text.toLowerCase().toUpperCase();

async function assertFieldsFound(body: Buffer, list: readonly Member[], perPiece: number): Promise<void> {
  const keys = list.map(([, key]) => String(JSON.parse(key)));
  const scan = await scanBothWays(body, watched, perPiece);
  const twice = frequentKeys.filter((name) => keys.filter((key) => fold(key) === fold(name)).length > 1);
  if (twice.length > 0) {
    assert.ok(!scan.ok && scan.fault === 'duplicate');
    assert.ok(scan.name !== undefined && twice.includes(scan.name));
    return;
  }
  assert.ok(scan.ok, JSON.stringify(scan));
  for (const name of frequentKeys) {
    const field = scan.fields.get(name);
    const index = keys.indexOf(name);
    assert.equal(field !== undefined, index !== -1);
    assert.equal(scan.foldedOnly.includes(name), index === -1 && keys.some((key) => fold(key) === fold(name)));
    if (field === undefined) continue;
    const raw = body.toString('utf8', field.start, field.end);
    assert.equal(raw, list[index]?.[3].trim());
    const value: unknown = JSON.parse(raw);
    assert.equal(field.kind, kindOf(value));
    const elements = Array.isArray(value) ? value.map(kindOf) : [];
    assert.equal(field.firstElement, elements[0]);
    assert.equal(field.elementKinds, kindBits(...elements));
    assert.equal(field.elements, elements.length);
    assert.equal(field.values, elements.length === 0 ? 0 : commasIn(raw) + 1);
    if (typeof value === 'string') assert.equal(textOf(body, field), value);
  }
  assert.equal(scan.empty, list.length === 0);
  const inserted = `${body.subarray(0, scan.insertAt)}"inserted":1${scan.empty ? '' : ','}${body.subarray(scan.insertAt)}`;
  assert.deepEqual(Object.keys(JSON.parse(inserted)).includes('inserted'), true);
}

/** Outside of texts. */
const commasIn = (raw: string): number => raw.replaceAll(/"(?:[^"\\]|\\.)*"/gs, '').split(',').length - 1;

/** What is found in the beginning of a document is what is found in the whole of it, and complete. */
function assertHeadAgrees(body: Buffer, end: number): void {
  const whole = scanJson(body, watched, 1000);
  if (!whole.ok) return;
  const head = scanJsonHead(body.subarray(0, end), watched);
  for (const name of frequentKeys) {
    const field = whole.fields.get(name);
    const found = head.get(name);
    const isOver = field !== undefined && followedAt(body, field) < end;
    if (isOver || found !== undefined) assert.deepEqual(spanOf(found), spanOf(field));
  }
}

/** The position of the comma or the brace that ends the field. */
const followedAt = (body: Buffer, { end }: JsonField): number => end + body.toString('latin1', end).search(/[,}]/);

const spanOf = (field: JsonField | undefined): unknown =>
  field && [field.start, field.end, field.kind, field.firstElement, field.elementKinds, field.values];

const bytesPerPiece = fc.integer({ min: 1, max: 7 });
const manyBytesPerPiece = fc.integer({ min: 100, max: 5000 });

const toDocument = (before: string, list: readonly Member[], after: string): Buffer =>
  Buffer.from(`${before}{${list.map((member) => toMember(...member)).join(',')}}${after}`);

/** Around the size up to which the scanner copies a body, and well above it. */
const longDocument = fc
  .tuple(
    fc.array(valueText, { minLength: 1, maxLength: 4 }),
    fc.oneof(fc.integer({ min: 4000, max: 4200 }), fc.nat(40_000)),
  )
  .map(([values, bytes]) => {
    const unit = `${values.join(',')},`;
    return Buffer.from(`{"input":[${unit.repeat(Math.ceil(bytes / unit.length))}null],"model":"m"}`);
  });

/** `onDocument` sees each document before the scanner does. */
export function scannerProperties(
  onDocument: (document: Buffer) => void = () => undefined,
): readonly ScannerProperty[] {
  const agrees = (document: Buffer, perPiece: number): Promise<void> => {
    onDocument(document);
    return assertAgreement(document, perPiece);
  };
  const texts = fc.tuple(space, valueText, space).map((parts) => parts.join(''));
  const documents = texts.map((text) => Buffer.from(text));
  const tokenChanges = fc.array(tokenChange, { minLength: 1, maxLength: 2 });
  const changes = fc.array(mutation, { minLength: 1, maxLength: 3 });
  return [
    toProperty(
      'finds the same fields in any valid body as JSON.parse',
      2,
      fc.asyncProperty(space, members, space, bytesPerPiece, (before, list, after, perPiece) => {
        const document = toDocument(before, list, after);
        onDocument(document);
        return assertFieldsFound(document, list, perPiece);
      }),
    ),
    toProperty(
      'finds the complete fields in any beginning of a valid body',
      1,
      fc.asyncProperty(space, members, fc.nat(), async (before, list, cut) => {
        const document = toDocument(before, list, '');
        onDocument(document);
        assertHeadAgrees(document, cut % (document.length + 1));
      }),
    ),
    toProperty(
      'judges any document, however broken, as JSON.parse does',
      4,
      fc.asyncProperty(documents, changes, bytesPerPiece, (document, list, perPiece) =>
        agrees(list.reduce(mutate, document), perPiece),
      ),
    ),
    toProperty(
      'judges documents with tokens too many or too few as JSON.parse does',
      2,
      fc.asyncProperty(texts, tokenChanges, bytesPerPiece, (text, list, perPiece) =>
        agrees(Buffer.from(list.reduce(changeToken, text)), perPiece),
      ),
    ),
    toProperty(
      'judges short strings of structural bytes as JSON.parse does',
      4,
      fc.asyncProperty(soup, bytesPerPiece, (text, perPiece) => agrees(Buffer.from(text), perPiece)),
    ),
    toProperty(
      'judges any bytes inside of a text as JSON.parse does',
      2,
      fc.asyncProperty(fc.array(someByte, { maxLength: 100 }), bytesPerPiece, (bytes, perPiece) =>
        agrees(Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]), perPiece),
      ),
    ),
    toProperty(
      'judges long documents, whole and broken, as JSON.parse does',
      0.1,
      fc.asyncProperty(
        longDocument,
        fc.array(mutation, { maxLength: 2 }),
        manyBytesPerPiece,
        (document, list, perPiece) => agrees(list.reduce(mutate, document), perPiece),
      ),
    ),
  ];
}

function toProperty<Inputs extends [unknown, ...unknown[]]>(
  title: string,
  weight: number,
  property: fc.IAsyncPropertyWithHooks<Inputs>,
): ScannerProperty {
  return { title, weight, hold: (runs) => fc.assert(property, runs) };
}
