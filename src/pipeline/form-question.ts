/** Reads a form (multipart) like a JSON request, and finds the part that names the model. */

import { Buffer, isAscii, isUtf8 } from 'node:buffer';
import { GatewayError } from '../core/errors.ts';
import { isPartForModel } from '../core/model-fields.ts';
import type { Route } from '../core/route.ts';
import type { FormPart, Upload } from '../core/upload.ts';
import { plainName } from '../lib/multipart/part-head.ts';
import { refusedModel } from '../plan/other-models.ts';
import { formReaderOf, modelFieldOf, type NamedModel, type NameSpan, type Question } from '../plan/question.ts';

const longestModelNameBytes = 1_024;
const longestShownFilename = 256;

/** The part that names the model; `mayBeMissing`: the path names the model too, so that the part is optional. */
interface ModelPart {
  readonly name: string;
  readonly mayBeMissing: boolean;
}

/** Reads a form as an object: a text is a string, a file an object, repeated names a list. */
export async function readForm(upload: Upload, route: Route, mayBeMissing: boolean): Promise<Question> {
  const name = modelFieldOf(route);
  const modelPart = name === undefined ? undefined : { name, mayBeMissing };
  const model = modelPart === undefined ? undefined : nameSpanIn(upload, modelPart);
  const otherModels = otherModelsInForm(upload.parts, modelPart?.name);
  const question = await formReaderOf(route)(Buffer.from(toJson(upload.parts)));
  let fileBytes = 0;
  for (const { filename, ...part } of upload.parts) if (filename !== undefined) fileBytes += part.end - part.start;
  return {
    ...question,
    mayNameOthers: otherModels.length > 0,
    form: { body: upload.body, bytes: upload.bytes, model, otherModels, fileBytes },
  };
}

function nameSpanIn({ parts, boundary, beginsAt }: Upload, { name, mayBeMissing }: ModelPart): NameSpan {
  const part = modelIn(parts, name, mayBeMissing);
  if (part !== undefined) return { start: part.start, end: part.end };
  // The part is put first, so that a reader can choose a file's destination before the file arrives.
  const before = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`;
  return { start: beginsAt, end: beginsAt, missing: { before, after: '\r\n' } };
}

function modelIn(parts: readonly FormPart[], wanted: string, mayBeMissing: boolean): FormPart | undefined {
  const found = parts.filter(({ name }) => plainName(name) === plainName(wanted));
  const [part, another] = found;
  if (part === undefined) {
    if (mayBeMissing) return undefined;
    throw new GatewayError('missing_required_parameter', {
      param: wanted,
      message: `The part "${wanted}" is missing; send it as plain text.`,
    });
  }
  if (another !== undefined) throw duplicatePart(wanted);
  const fault = plainTextFault(part, wanted);
  if (fault === undefined) return part;
  throw new GatewayError('invalid_type', {
    param: wanted,
    message: `The part "${wanted}" must be plain text of that name, without a file name; this one ${fault}.`,
  });
}

/** Parts besides the model's own that have the name of a model field. */
function otherModelsInForm(parts: readonly FormPart[], modelPart: string | undefined): readonly NamedModel[] {
  const found: NamedModel[] = [];
  for (const part of parts) {
    const name = plainName(part.name);
    const isModel = name === 'model';
    if (modelPart !== undefined && name === plainName(modelPart)) continue;
    if (!isModel && !isPartForModel(part.name.replaceAll("'", '').trim())) continue;
    const { start, end, text } = part;
    if (text?.length === 0) continue;
    if (plainTextFault(part, part.name) !== undefined || text === undefined) throw refusedModel(part.name.slice(0, 80));
    found.push({ param: part.name, name: text.toString(), at: { start, end } });
  }
  return found;
}

/** Why a part cannot name a model, which needs plain text under exactly this name; undefined where it can. */
function plainTextFault(
  { name, filename, contentType = 'text/plain', text }: FormPart,
  wanted: string,
): string | undefined {
  if (name !== wanted) return `is called ${JSON.stringify(name)}`;
  if (filename !== undefined) return 'came as a file';
  if (!plainText.test(contentType)) return 'has a Content-Type that is not text/plain in UTF-8';
  if (text === undefined || text.length > longestModelNameBytes) return 'is longer than any name';
  // Apache's HttpClient for Java declares ISO-8859-1 by default. ASCII is the same in both.
  const isReadable = /8859/.test(contentType) ? isAscii(text) : isUtf8(text);
  return isReadable ? undefined : 'is no UTF-8';
}

const plainText = /^text\/plain(?:[ \t]*;[ \t]*charset="?(?:utf-8|us-ascii|iso-8859-1)"?)?$/i;

export function duplicatePart(name: string): GatewayError {
  return new GatewayError('duplicate_parameter', {
    param: name,
    message: `The part "${name}" stands twice (letter case, brackets and quotes do not tell parts apart); keep one.`,
  });
}

/** The form's fields as JSON; names of lists (`image[]`) lose their brackets. */
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
    return JSON.stringify({ filename: toText(filename.slice(0, longestShownFilename)), bytes: end - start });
  }
  return text === undefined ? `"(${end - start} bytes)"` : JSON.stringify(text.toString());
}

const toText = (bytes: string): string => Buffer.from(bytes, 'latin1').toString().toWellFormed();
