/** Errors of local models in OpenAI's format: status 400, or 413 for too long input, with the field and advice. */

export type RefusalCode =
  | 'invalid_json'
  | 'body_too_large'
  | 'missing_required_parameter'
  | 'invalid_type'
  | 'invalid_value'
  | 'array_above_max_length'
  | 'string_above_max_length';

export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly param: string | null;

  constructor(code: RefusalCode, param: string | null, message: string) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.param = param;
  }
}
