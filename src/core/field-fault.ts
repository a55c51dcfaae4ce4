/** What is wrong with one field: `path` as the document writes it, such as `targets[0].upstream`. */
export interface FieldFault {
  readonly path: string;
  readonly message: string;
}
