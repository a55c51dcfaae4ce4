/** Reads a JSON object that may have known fields only, so that nothing unchecked is forwarded. */

import type { Buffer } from 'node:buffer';
import { missingField } from '../../core/client-api.ts';
import { GatewayError } from '../../core/errors.ts';
import {
  compileWatchedKeys,
  type JsonField,
  type JsonFields,
  scanJsonOfAnyLength,
  type WatchedKeys,
} from '../../lib/json/json-scan.ts';
import { duplicate } from '../../plan/question.ts';

/** Limit of the bytes around the values, that is of names and white space. */
const longestRestBytes = 4_096;
const longestShown = 80;

export const compileFields = (names: readonly string[]): WatchedKeys => compileWatchedKeys(names);

export async function readFields(bytes: Buffer, known: WatchedKeys): Promise<JsonFields> {
  const scan = await scanJsonOfAnyLength(bytes, known);
  if (!scan.ok) {
    if (scan.fault === 'duplicate') throw duplicate(scan.name ?? '');
    if (scan.fault === 'depth') throw new GatewayError('body_too_deep');
    const what = scan.fault === 'utf8' ? 'is not valid UTF-8' : 'is not one JSON object';
    throw new GatewayError('invalid_json', { message: `It ${what} (at byte ${scan.at}).` });
  }
  checkRest(bytes, known.names, scan.fields);
  return scan.fields;
}

export function needed(fields: JsonFields, name: string, wanted: string): JsonField {
  const field = fields.get(name);
  if (field === undefined || field.kind === 'null') throw missingField(name, wanted);
  return field;
}

/** Checks that the object without the values has nothing but the known names. */
function checkRest(bytes: Buffer, names: readonly string[], fields: JsonFields): void {
  const found = names.flatMap((name) => fields.get(name) ?? []).toSorted((one, other) => one.start - other.start);
  const pieces: string[] = [];
  let at = 0;
  let length = 0;
  for (const { start, end } of [...found, { start: bytes.length, end: bytes.length }]) {
    length += start - at;
    if (length > longestRestBytes) throw holdsMore(names);
    pieces.push(bytes.toString('utf8', at, start));
    at = end;
  }
  const rest: unknown = JSON.parse(pieces.join('0'));
  const other = Object.keys(Object(rest)).find((name) => !names.includes(name));
  if (other !== undefined) throw holdsMore(names, other.slice(0, longestShown));
}

function holdsMore(names: readonly string[], name?: string): GatewayError {
  const shown = name === undefined ? '' : ` (${JSON.stringify(name)})`;
  return new GatewayError('unsupported_parameter', {
    ...(name !== undefined && { param: name }),
    message: `It holds more${shown} than ${names.join(', ')}; leave that out.`,
  });
}
