/** Parses one line of a batch file: its ID, path and body. Other fields are refused. */

import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { unfitField } from '../../core/client-api.ts';
import { GatewayError } from '../../core/errors.ts';
import { type JsonField, textOf } from '../../lib/json/json-scan.ts';
import { compileFields, needed, readFields } from './known-fields.ts';

export interface BatchLine {
  readonly customId: JsonField;
  readonly url: string;
  readonly body: JsonField;
}

const names = compileFields(['custom_id', 'method', 'url', 'body']);

const longestUrlBytes = 256;
const longestIdBytes = 1_022;
const quotesBytes = 2;
/** Longest ID that is remembered as it is; a longer one is remembered by its digest. */
const longestRememberedId = 40;

const RETURN = 0x0d;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Parses a line; `bytes` are without the line feed. */
export async function readBatchLine(bytes: Buffer, no: number): Promise<BatchLine> {
  checkBytes(bytes, no);
  const fields = await readFields(bytes, names);
  const customId = needed(fields, 'custom_id', 'a string that no other line has');
  const method = needed(fields, 'method', '"POST"');
  const url = needed(fields, 'url', 'a string such as "/v1/chat/completions"');
  const body = needed(fields, 'body', 'an object, as the body of a request has it');
  const idBytes = customId.end - customId.start - quotesBytes;
  if (customId.kind !== 'string' || idBytes > longestIdBytes || idBytes < 1) {
    throw unfitField('custom_id', `a string that is not empty, of ${longestIdBytes} bytes at most`);
  }
  if (method.kind !== 'string' || short(bytes, method) !== 'POST') throw unfitField('method', '"POST"');
  if (url.kind !== 'string') throw unfitField('url', 'a string');
  if (body.kind !== 'object') throw unfitField('body', 'an object');
  return { customId, url: short(bytes, url), body };
}

export function customIdIn(bytes: Buffer, field: JsonField): string {
  const id = textOf(bytes, field);
  return id.length <= longestRememberedId ? id : createHash('sha256').update(id).digest('base64');
}

function checkBytes(bytes: Buffer, no: number): void {
  if (no === 1 && bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark)) {
    throw new GatewayError('invalid_json', {
      param: 'file',
      message: 'It begins with a byte order mark; save the file without one.',
    });
  }
  const end = bytes.at(-1) === RETURN ? bytes.length - 1 : bytes.length;
  if (end === 0) {
    throw new GatewayError('invalid_json', { param: 'file', message: 'It is empty; leave it out.' });
  }
  // Some readers end a line at a carriage return.
  const returned = bytes.indexOf(RETURN);
  if (returned !== -1 && returned < end) {
    throw new GatewayError('invalid_json', {
      param: 'file',
      message: `It holds a carriage return (at byte ${returned} of the line) that is not at its end.`,
    });
  }
}

const short = (bytes: Buffer, field: JsonField): string =>
  field.end - field.start > longestUrlBytes ? '' : textOf(bytes, field);
