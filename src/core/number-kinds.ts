/** Computes how many numbers a vector in a packed format has: formats with less than one element or four bytes per number. */

const bitsPerNumber: ReadonlyMap<string, number> = new Map([
  ['float', 32],
  ['float32', 32],
  ['float16', 16],
  ['bfloat16', 16],
  ['fp8_e4m3', 8],
  ['fp8_e5m2', 8],
  ['int8', 8],
  ['uint8', 8],
  ['binary', 1],
  ['ubinary', 1],
]);

/** Numbers in a list. Packed bits come eight to an integer; fractions mean that the server ignored the kind. Undefined for unknown kinds. */
export function numbersInList(kind: string, elements: number, hasFractions: boolean): number | undefined {
  const bits = bitsPerNumber.get(kind);
  if (bits === undefined) return undefined;
  return bits === 1 && !hasFractions ? elements * 8 : elements;
}

/** Numbers in decoded base64; undefined for unknown kinds, or where the bytes are no whole number of elements. */
export function numbersInBytes(kind: string, bytes: number): number | undefined {
  const bits = bitsPerNumber.get(kind);
  if (bits === undefined || bytes === 0 || (bytes * 8) % bits !== 0) return undefined;
  return (bytes * 8) / bits;
}
