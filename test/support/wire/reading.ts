/** The result of parsing one connection's bytes, for comparing two parsers. All text is Latin-1: a character is a byte. */

export interface ReadRequest {
  readonly method: string;
  readonly target: string;
  /** Of HTTP/1. */
  readonly minor: number;
  /** Names and values in turn. */
  readonly fields: readonly string[];
  readonly body: string;
}

export interface Reading {
  /** Those that came whole. */
  readonly requests: readonly ReadRequest[];
  /**
   * How the connection ended: with nothing left, in the middle of a request, with a request that is said to be the last one, or
   * with something that is refused.
   */
  readonly end: 'clean' | 'cut' | 'last' | 'refused';
  /** Why it is refused. */
  readonly why?: string;
}

/** How what one reader understood differs from the other's understanding; undefined where it does not. */
export function differenceOf(ours: Reading, theirs: Reading): string | undefined {
  for (const [index, own] of ours.requests.entries()) {
    const their = theirs.requests[index];
    if (their === undefined) return `they read ${index} of ${ours.requests.length} requests: ${endOf(theirs)}`;
    const part = partsThatDiffer(own, their);
    if (part !== undefined) return `request ${index}: ${part}`;
  }
  // What is refused has no meaning here, and what follows the last request is not read.
  if (ours.end === 'refused' || ours.end === 'last') return undefined;
  if (theirs.requests.length > ours.requests.length) {
    const more = theirs.requests[ours.requests.length];
    return `they read another request, ${more?.method} ${more?.target}, where we say ${ours.end}`;
  }
  if (theirs.end === 'refused' && ours.end === 'clean') return `they refuse what is behind the last: ${theirs.why}`;
  return undefined;
}

function endOf({ end, why }: Reading): string {
  return why === undefined ? end : `${end}, ${why}`;
}

function partsThatDiffer(own: ReadRequest, their: ReadRequest): string | undefined {
  for (const part of ['method', 'target', 'minor', 'body'] as const) {
    if (own[part] !== their[part]) return `the ${part} is ${shown(own[part])} here, ${shown(their[part])} there`;
  }
  const [ownFields, theirFields] = [own.fields.join('\n'), their.fields.join('\n')];
  return ownFields === theirFields ? undefined : `the fields are ${shown(ownFields)} here, ${shown(theirFields)} there`;
}

export function shown(value: string | number): string {
  const text = JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}… (${text.length})` : text;
}
