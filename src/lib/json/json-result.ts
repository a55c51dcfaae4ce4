/** Defines the result of scanning a JSON body: its watched fields, or the fault. */

/** Numbers for the kinds of values, in the order of `kinds`, for the scanner. */
export const STRING = 0;
export const NUMBER = 1;
export const OBJECT = 2;
export const ARRAY = 3;
export const BOOLEAN = 4;
export const NULL = 5;

const kinds = ['string', 'number', 'object', 'array', 'boolean', 'null'] as const;
export type JsonKind = (typeof kinds)[number];

export const kindOf = (kind: number): JsonKind => kinds[kind] ?? 'null';

/** The bits of these kinds in `JsonField.elementKinds`. */
export function kindBits(...some: readonly JsonKind[]): number {
  return some.reduce((bits, kind) => bits | (1 << kinds.indexOf(kind)), 0);
}

/** A watched top-level field: the span `[start, end)` and the kind of its value. */
export interface JsonField {
  readonly name: string;
  readonly kind: JsonKind;
  readonly start: number;
  readonly end: number;
  readonly firstElement: JsonKind | undefined;
  /** For arrays: the kinds of all elements, as bits of `kindBits`. */
  readonly elementKinds: number;
  readonly elements: number;
  /** For arrays of numbers, or of lists of numbers: how many numbers in all; for other arrays at least `elements`. */
  readonly values: number;
}

export interface FoundField extends JsonField {
  readonly before: FoundField | undefined;
}

/** The watched fields of one body, in a linked list, which is fastest for so few. */
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

  /** The name of the field whose value contains the byte at an offset. */
  nameAt(offset: number): string | undefined {
    let field = this.#last;
    while (field !== undefined && (offset < field.start || offset >= field.end)) field = field.before;
    return field?.name;
  }
}

export interface JsonObjectScan {
  readonly ok: true;
  readonly fields: JsonFields;
  /** Watched names present only in another letter case, such as "Model" without a "model". */
  readonly foldedOnly: readonly string[];
  /** Whether any rare name is present, in any letter case. */
  readonly hasRare: boolean;
  /** Offset after the opening brace, where a field can be inserted. */
  readonly insertAt: number;
  readonly empty: boolean;
}

export interface JsonFault {
  readonly ok: false;
  readonly fault: 'syntax' | 'utf8' | 'depth' | 'duplicate' | 'not-object';
  readonly at: number;
  /** For `duplicate`: the watched name that occurs twice. */
  readonly name?: string;
  readonly kind?: JsonKind;
}

export type JsonScan = JsonObjectScan | JsonFault;
