/** Undoes the escaping of JSON, URLs, HTML and programming languages' strings. */

import { Buffer } from 'node:buffer';

const entities: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['apos', "'"],
  ['colon', ':'],
  ['commat', '@'],
  ['dollar', '$'],
  ['equals', '='],
  ['gt', '>'],
  ['lowbar', '_'],
  ['lt', '<'],
  ['num', '#'],
  ['percnt', '%'],
  ['period', '.'],
  ['plus', '+'],
  ['quot', '"'],
  ['sol', '/'],
]);

/** Matches an escape: `\/`; `\x2b`, `\u002b` and `%2B`; `&#43;`, `&#x2B;` and `&amp;`. */
const escaped = /\\(["\\/'`])|(?:\\x|\\u00|%)([0-9A-Fa-f]{2})|&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([a-z]{2,8}));/g;

const mostLayers = 4;

/** Yields the text unchanged, then unescaped once, twice, and so on. */
export function* layersOf(text: Buffer): Generator<Buffer> {
  let layer: Buffer | undefined = text;
  for (let depth = 0; depth <= mostLayers && layer !== undefined; depth += 1) {
    yield layer;
    layer = unescaped(layer);
  }
}

/** Undoes one layer of escapes, of all kinds at once; undefined where nothing was escaped. */
function unescaped(bytes: Buffer): Buffer | undefined {
  if (!bytes.includes('\\') && !bytes.includes('%') && !bytes.includes('&')) return undefined;
  // One character for each byte.
  const plain = bytes.toString('latin1').replace(escaped, toCharacter);
  return plain.length === bytes.length ? undefined : Buffer.from(plain, 'latin1');
}

function toCharacter(
  said: string,
  itself?: string,
  byte?: string,
  decimal?: string,
  hex?: string,
  name?: string,
): string {
  if (itself !== undefined) return itself;
  if (byte !== undefined) return String.fromCharCode(Number.parseInt(byte, 16));
  if (name !== undefined) return entities.get(name) ?? said;
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  return code > 0 && code < 256 ? String.fromCharCode(code) : said;
}
