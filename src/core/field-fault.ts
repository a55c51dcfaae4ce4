/** A fault in one field, with its `path` in the document, such as `targets[0].upstream`. */
export interface FieldFault {
  readonly path: string;
  readonly message: string;
}
