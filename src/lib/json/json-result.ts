/** The result of scanning a JSON body. */

/** Kinds as numbers, in the order of `kinds`: what the scanner works with. */
export const STRING = 0;
export const NUMBER = 1;
export const OBJECT = 2;
export const ARRAY = 3;
export const BOOLEAN = 4;
export const NULL = 5;

const kinds = ['string', 'number', 'object', 'array', 'boolean', 'null'] as const;
export type JsonKind = (typeof kinds)[number];

export const kindOf = (kind: number): JsonKind => kinds[kind] ?? 'null';

/** The bits that `JsonField.elementKinds` has for these kinds. */
export function kindBits(...some: readonly JsonKind[]): number {
  return some.reduce((bits, kind) => bits | (1 << kinds.indexOf(kind)), 0);
}

/** A watched top-level field: the span `[start, end)` of its value, and of what kind that is. */
export interface JsonField {
  readonly name: string;
  readonly kind: JsonKind;
  readonly start: number;
  readonly end: number;
  /** Arrays: the kind of the first element, where there is one. */
  readonly firstElement: JsonKind | undefined;
  /** Arrays: every kind that occurs among the elements, as the bits that `kindBits` gives. */
  readonly elementKinds: number;
  /** Arrays: how many it has. */
  readonly elements: number;
  /** Arrays of numbers, or of lists of numbers: how many numbers; else no less than `elements`. */
  readonly values: number;
}

export interface FoundField extends JsonField {
  readonly before: FoundField | undefined;
}

/** The watched fields of one body: so few that a chain of them is the quickest to make and to look through. */
export class JsonFields {
  readonly #last: FoundField | undefined;

  constructor(last: FoundField | undefined) {
    this.#last = last;
  }

  get(name: string): JsonField | undefined {
    let field = this.#last;
    while (field !== undefined && field.name !== name) field = field.before;
    return field;
  }

  /** In whose value a byte stands. */
  nameAt(offset: number): string | undefined {
    let field = this.#last;
    while (field !== undefined && (offset < field.start || offset >= field.end)) field = field.before;
    return field?.name;
  }
}

export interface JsonObjectScan {
  readonly ok: true;
  readonly fields: JsonFields;
  /** Watched names that stand there in another letter case only, such as "Model" without a "model". */
  readonly foldedOnly: readonly string[];
  /** Whether any of the rare names stands there, in whatever letter case. */
  readonly hasRare: boolean;
  /** Just after the opening brace, where a field can be put in. */
  readonly insertAt: number;
  /** Whether the object has no field at all. */
  readonly empty: boolean;
}

export interface JsonFault {
  readonly ok: false;
  readonly fault: 'syntax' | 'utf8' | 'depth' | 'duplicate' | 'not-object';
  /** The offset of the first byte at fault. */
  readonly at: number;
  /** duplicate: the watched name. */
  readonly name?: string;
  /** not-object: what the body is instead. */
  readonly kind?: JsonKind;
}

export type JsonScan = JsonObjectScan | JsonFault;
