/** Defines a fault in one field of a document, whose `path` is the field's position, such as `targets[0].upstream`. */
export interface FieldFault {
  readonly path: string;
  readonly message: string;
}

/** The steps of a position as text, such as `targets[0].upstream`. */
export function toPath(steps: readonly PropertyKey[]): string {
  return steps.reduce<string>(
    (text, step) => text + (typeof step === 'number' ? `[${step}]` : `${text === '' ? '' : '.'}${String(step)}`),
    '',
  );
}
