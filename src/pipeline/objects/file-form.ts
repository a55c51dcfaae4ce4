/** Judges the form by which a file comes: one file, and one purpose that says what may be done with it. */

import { GatewayError } from '../../core/errors.ts';
import type { FormPart } from '../../core/upload.ts';
import { plainName } from '../../lib/multipart/plain-name.ts';

/** Whose lines are judged before it is sent. */
export const forBatches = 'batch';
const purposes: readonly string[] = ['assistants', forBatches, 'evals', 'fine-tune', 'user_data', 'vision'];

interface FileForm {
  readonly file: FormPart;
  readonly purpose: string;
}

export function readFileForm(parts: readonly FormPart[]): FileForm {
  const file = onlyPart(parts, 'file');
  if (file.filename === undefined) throw wrong('file', 'a file, with a file name');
  const purpose = onlyPart(parts, 'purpose');
  if (purpose.filename !== undefined || purpose.namesEncoding || purpose.text === undefined) {
    throw wrong('purpose', 'plain text');
  }
  const said = purpose.text.toString('latin1');
  if (purposes.includes(said)) return { file, purpose: said };
  throw new GatewayError('unsupported_parameter', {
    param: 'purpose',
    message: `The purpose of a file must be one of ${purposes.join(', ')}.`,
  });
}

function onlyPart(parts: readonly FormPart[], name: string): FormPart {
  const [part, another] = parts.filter((one) => plainName(one.name) === name);
  if (part === undefined) {
    throw new GatewayError('missing_required_parameter', {
      param: name,
      message: `The part "${name}" is missing; send it.`,
    });
  }
  if (another !== undefined) {
    throw new GatewayError('duplicate_parameter', {
      param: name,
      message: `The part "${name}" stands twice (letter case, brackets and quotes do not tell parts apart); keep one.`,
    });
  }
  if (part.name !== name) throw wrong(name, `called "${name}"`);
  return part;
}

function wrong(param: string, wanted: string): GatewayError {
  return new GatewayError('invalid_type', { param, message: `The part "${param}" must be ${wanted}.` });
}
