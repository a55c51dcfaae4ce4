/** Tables of the characters that are allowed in message heads: the classes of RFC 9110. */

export const cr = 0x0d;
export const lf = 0x0a;
export const space = 0x20;
export const tab = 0x09;
export const colon = 0x3a;
export const semicolon = 0x3b;

function tableOf(isIn: (code: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (isIn(code) ? 1 : 0));
}

const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]$/;

/** Characters of methods and field names. */
export const inToken = tableOf((code) => tokenPattern.test(String.fromCharCode(code)));

/** Characters of field values and reason phrases: visible ones, blanks, and bytes beyond ASCII. */
export const inValue = tableOf((code) => code === tab || (code >= 0x20 && code !== 0x7f));

/** Characters of request targets: visible ASCII characters. */
export const inTarget = tableOf((code) => code > 0x20 && code < 0x7f);

/** The value of a hexadecimal digit; 255 for other bytes. */
export const hexValues = Uint8Array.from({ length: 256 }, (_, code) => {
  const digit = String.fromCharCode(code);
  return /^[0-9A-Fa-f]$/.test(digit) ? Number.parseInt(digit, 16) : 255;
});

/** Whether a byte is allowed nowhere in a head. */
export function isForbidden(code: number): boolean {
  return (code < 0x20 && code !== cr && code !== lf && code !== tab) || code === 0x7f;
}
