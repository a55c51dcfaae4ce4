/** Names for requests, so that one that is sent again is known to be the same. */

export interface RequestKeys {
  /** The same name for the same body in a row. */
  of(body: string): string;
}

export function createRequestKeys(): RequestKeys {
  let last = { body: '', key: '' };
  return {
    of(body) {
      if (last.key === '' || last.body !== body) last = { body, key: randomName() };
      return last.key;
    },
  };
}

/** Not `randomUUID`: that is missing on a page that came over plain HTTP from another machine. */
function randomName(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
