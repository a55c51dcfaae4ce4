/** The head of one part: its fields as strictly as those of a message, and what they say of it. */

import type { Buffer } from 'node:buffer';
import { readParameters } from './parameters.ts';

export interface PartHead {
  /** Each byte a character, as in all that is said of a part. */
  readonly name: string;
  /** An empty one too says that it is a file. */
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
  /** It names a transfer encoding, be it one that changes nothing. */
  readonly namesEncoding: boolean;
}

const fieldLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*$/;
/** Those that leave the bytes as they are. */
const plainEncodings = new Set(['7bit', '8bit', 'binary']);
const formData = /^form-data(?=[ \t;]|$)/i;

/** What is wrong with it, where it is no head. `bytes` without the empty line at its end. */
export function readPartHead(bytes: Buffer, mostNameBytes: number): PartHead | string {
  const fields = new Map<string, string>();
  for (const line of bytes.toString('latin1').split('\r\n')) {
    const field = fieldLine.exec(line);
    if (field === null) return 'a line in the head of a part is no header field';
    const name = field[1]?.toLowerCase() ?? '';
    if (fields.has(name)) return `the head of a part has the field "${name}" twice`;
    fields.set(name, field[2] ?? '');
  }
  const encoding = fields.get('content-transfer-encoding');
  if (encoding !== undefined && !plainEncodings.has(encoding.toLowerCase())) {
    return 'a part has a Content-Transfer-Encoding; send its bytes as they are';
  }
  const found = nameIn(fields.get('content-disposition'), mostNameBytes);
  if (typeof found === 'string') return found;
  return { ...found, contentType: fields.get('content-type'), namesEncoding: encoding !== undefined };
}

function nameIn(disposition: string | undefined, mostNameBytes: number): Pick<PartHead, 'name' | 'filename'> | string {
  const start = disposition === undefined ? null : formData.exec(disposition);
  if (disposition === undefined || start === null) return 'a part has no Content-Disposition that says form-data';
  const parameters = readParameters(disposition.slice(start[0].length));
  const name = parameters?.get('name');
  if (parameters === undefined || name === undefined || parameters.has('name*')) {
    return 'the Content-Disposition of a part names it in no way that is clear';
  }
  if (name.length > mostNameBytes) return `the name of a part is longer than ${mostNameBytes} bytes`;
  // Some would take what follows it for the character that is meant.
  if (name.includes('\\')) return 'the name of a part has a backslash in it';
  return { name, filename: parameters.get('filename') ?? parameters.get('filename*') };
}
