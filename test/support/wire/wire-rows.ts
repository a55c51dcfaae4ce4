/** Tables of bytes as text. All text is Latin-1: a character is a byte. */

/** One entry behind the other, on as many lines as they need; `''` is an empty one, and the blanks at its edges are written as codes. */
export function table(text: string): string[] {
  return text
    .trim()
    .split(/¦|\n */)
    .map((entry) => entry.replace(/^''$/, '').replace(/\\(?:x(..)|[rnt])/g, decode));
}

function decode(code: string, hex: string | undefined): string {
  if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
  return code === '\\r' ? '\r' : code === '\\n' ? '\n' : '\t';
}
