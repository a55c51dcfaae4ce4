/** How a secret may look when an upstream repeats it in an answer. */

/** A shorter text stands in innocent answers too often. */
const shortestBytes = 8;

/** As it is, in JSON with and without escaped slashes, and in a URL; nothing for a text too short to be a secret. */
export function spellingsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const spellings = new Set([secret, json, json.replaceAll('/', '\\/'), encodeURIComponent(secret)]);
  return [...spellings].filter((spelling) => Buffer.byteLength(spelling) >= shortestBytes);
}

export function holdsSecret(headerName: string): boolean {
  return /auth|key|token|secret|cookie/i.test(headerName);
}

/** The part of a header's value that is worth hiding: without its scheme, where it has one. */
export function secretIn(headerValue: string): string {
  const [, rest = ''] = /^[A-Za-z][A-Za-z0-9-]* +(.+)$/.exec(headerValue) ?? [];
  return Buffer.byteLength(rest) >= shortestBytes ? rest : headerValue;
}
