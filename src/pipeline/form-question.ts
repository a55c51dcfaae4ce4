/** What a form asks: its fields as one JSON object, so that whatever reads a question reads this one too; and where its model's name stands. */

import { Buffer, isUtf8 } from 'node:buffer';
import { GatewayError } from '../core/errors.ts';
import type { FormPart, Upload } from '../core/upload.ts';
import { plainName } from '../lib/multipart/plain-name.ts';
import type { Question, QuestionReader } from './question.ts';

/** No model has a longer name. */
const longestNameBytes = 1_024;
/** Of a file's name in what is asked: for people. */
const longestFilename = 256;

/** `read` judges the fields: a text is a string, a file an object, several parts of a name a list. */
export async function readForm(upload: Upload, read: QuestionReader): Promise<Question> {
  const { start, end } = modelIn(upload.parts);
  const question = await read(Buffer.from(toJson(upload.parts)));
  let fileBytes = 0;
  for (const { filename, ...part } of upload.parts) if (filename !== undefined) fileBytes += part.end - part.start;
  return { ...question, form: { body: upload.body, bytes: upload.bytes, model: { start, end }, fileBytes } };
}

function modelIn(parts: readonly FormPart[]): FormPart {
  const found = parts.filter(({ name }) => plainName(name) === 'model');
  const [part, another] = found;
  if (part === undefined) {
    throw new GatewayError('missing_required_parameter', {
      param: 'model',
      message: 'The part "model" is missing; send it as plain text.',
    });
  }
  if (another !== undefined) throw duplicate();
  if (part.name !== 'model') throw wrong(`is called ${JSON.stringify(part.name)}`);
  if (part.filename !== undefined) throw wrong('came as a file');
  if (part.namesEncoding) throw wrong('has a Content-Transfer-Encoding');
  if (!isPlainText(part.contentType)) throw wrong('has a Content-Type that is not text/plain in UTF-8');
  if (part.text === undefined || part.text.length > longestNameBytes) throw wrong('is longer than any name');
  if (!isUtf8(part.text)) throw wrong('is no UTF-8');
  return part;
}

const isPlainText = (contentType: string | undefined): boolean =>
  contentType === undefined || /^text\/plain(?:[ \t]*;[ \t]*charset="?(?:utf-8|us-ascii)"?)?$/i.test(contentType);

function wrong(what: string): GatewayError {
  return new GatewayError('invalid_type', {
    param: 'model',
    message: `The part "model" must be plain text of that name, without a file name; this one ${what}.`,
  });
}

function duplicate(): GatewayError {
  return new GatewayError('duplicate_parameter', {
    param: 'model',
    message: 'The part "model" stands twice (letter case, brackets and quotes do not tell parts apart); keep one.',
  });
}

/** With the names of lists (`image[]`) without their brackets. */
function toJson(parts: readonly FormPart[]): string {
  const fields = new Map<string, string[]>();
  for (const part of parts) {
    const name = toText(part.name).replace(/\[\]$/, '');
    const values = fields.get(name) ?? [];
    fields.set(name, values);
    values.push(toValue(part));
  }
  const written = Array.from(fields, ([name, values]) => {
    const [only] = values;
    return `${JSON.stringify(name)}:${values.length === 1 ? only : `[${values.join(',')}]`}`;
  });
  return `{${written.join(',')}}`;
}

function toValue({ filename, start, end, text }: FormPart): string {
  if (filename !== undefined) {
    return JSON.stringify({ filename: toText(filename.slice(0, longestFilename)), bytes: end - start });
  }
  return text === undefined ? `"(${end - start} bytes)"` : JSON.stringify(text.toString());
}

/** From a byte a character to what is meant, in UTF-8. */
const toText = (bytes: string): string => Buffer.from(bytes, 'latin1').toString().toWellFormed();
