/** What a field is called, and what it may be told. */

export interface FieldWords {
  readonly label: string;
  readonly description?: string;
  readonly placeholder?: string;
  /** A text where there are none. */
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
}
