/** Defines a fault in one field of a document, whose `path` is the field's position, such as `targets[0].upstream`. */
export interface FieldFault {
  readonly path: string;
  readonly message: string;
}
