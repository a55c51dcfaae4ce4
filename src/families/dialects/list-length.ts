/** How long a list is, as far as it matters, from the bytes of a request that nobody has read yet. */

import type { Glance } from '../../core/translation.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Whether a list has more elements than that. A list of token IDs is one input, however long. */
export function isLongerThan({ body, fields }: Glance, most: number, name: 'input' | 'documents' = 'input'): boolean {
  const list = fields.get(name);
  if (list?.kind !== 'array' || list.firstElement === 'number') return false;
  // Each element but the last takes two bytes at the least.
  if ((list.end - list.start) / 2 <= most) return false;
  let count = 1;
  let depth = 0;
  for (let at = list.start + 1; at < list.end - 1; at += 1) {
    const byte = body[at];
    if (byte === QUOTE) at = endOfString(body, at);
    else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) depth += 1;
    else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) depth -= 1;
    else if (byte === COMMA && depth === 0) {
      count += 1;
      if (count > most) return true;
    }
  }
  return false;
}

/** Where the quote is that ends the string which begins at `start`; the body is known to be JSON. */
function endOfString(body: Buffer, start: number): number {
  let from = start + 1;
  for (;;) {
    const end = body.indexOf(QUOTE, from);
    let before = end - 1;
    while (body[before] === BACKSLASH) before -= 1;
    // After an odd number of backslashes it is a part of the text.
    if ((end - before) % 2 === 1) return end;
    from = end + 1;
  }
}
