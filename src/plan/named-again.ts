/** Finds where a body repeats the model of the path. Each must be the same model; the caller renames it for the upstream. */

import type { Buffer } from 'node:buffer';
import { GatewayError } from '../core/errors.ts';
import type { ModelField } from '../core/route.ts';
import { elementsOf, type JsonSpan } from '../lib/json/json-elements.ts';
import { compileWatchedKeys, type JsonField, scanJsonOfAnyLength, textOf } from '../lib/json/json-scan.ts';
import { sliceIfOver } from '../lib/time-slices.ts';
import { duplicate } from './question.ts';

export interface NamedAgain extends JsonSpan {
  /** The name without its permitted prefix. */
  readonly text: string;
}

const list = '[]';
/** Limit of a model name in a body; no real name is longer, even if every character is escaped. */
const longestNameBytes = 4_096;

/** Where the body repeats the path's model, in order. Throws where it names another model. */
export async function namesAgainIn(body: Buffer, { again = [], prefix = '' }: ModelField, model: string) {
  const named: NamedAgain[] = [];
  const whole = { start: 0, end: body.length };
  for (const path of again) {
    await look(body, whole, path.split('.'), '', (field, param) => {
      const text = field.end - field.start > longestNameBytes ? undefined : textOf(body, field);
      const name = text?.startsWith(prefix) ? text.slice(prefix.length) : text;
      if (field.kind !== 'string' || name !== model) throw another(param, model);
      named.push({ start: field.start, end: field.end, text: name });
    });
  }
  return named.toSorted((one, other) => one.start - other.start);
}

type Found = (field: JsonField, param: string) => void;

/** Follows the remaining steps of a path into one object of the body; `at` is the path of that object, for error messages. */
async function look(
  body: Buffer,
  span: JsonSpan,
  [step = '', ...rest]: readonly string[],
  at: string,
  found: Found,
): Promise<void> {
  const isList = step.endsWith(list);
  const name = isList ? step.slice(0, -list.length) : step;
  const param = at === '' ? name : `${at}.${name}`;
  const field = await fieldIn(body, span, name, param);
  if (field === undefined) return;
  if (!isList) {
    if (rest.length > 0) await look(body, field, rest, param, found);
    else found(field, param);
    return;
  }
  let index = 0;
  for (const element of elementsOf(body, field)) {
    await sliceIfOver();
    await look(body, element, rest, `${param}[${index}]`, found);
    index += 1;
  }
}

async function fieldIn(body: Buffer, { start, end }: JsonSpan, name: string, param: string) {
  const object = body.subarray(start, end);
  const scan = await scanJsonOfAnyLength(object, compileWatchedKeys([name]));
  if (!scan.ok) {
    if (scan.fault === 'duplicate') throw duplicate(param);
    return undefined;
  }
  const field = scan.fields.get(name);
  if (field === undefined || field.kind === 'null') return undefined;
  return { ...field, start: field.start + start, end: field.end + start };
}

function another(param: string, model: string): GatewayError {
  return new GatewayError('unsupported_parameter', {
    param,
    message: `The field "${param}" must name the model of the path, ${JSON.stringify(model.slice(0, 80))}; send a request for each model.`,
  });
}
