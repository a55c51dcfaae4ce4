/** Reads raw headers: a list of names and values in turn, as received. */

/** The first value of a header, whose name is `wanted` in lower case. */
export function headerValue(raw: readonly string[], wanted: string): string | undefined {
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]?.length === wanted.length && raw[i]?.toLowerCase() === wanted) return raw[i + 1];
  }
  return undefined;
}

/** All values of a header, joined as one list in the order of their lines. */
export function headerList(raw: readonly string[], wanted: string): string | undefined {
  let list: string | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]?.length !== wanted.length || raw[i]?.toLowerCase() !== wanted) continue;
    list = list === undefined ? raw[i + 1] : `${list}, ${raw[i + 1]}`;
  }
  return list;
}

export function headersWithout(raw: readonly string[], isLeftOut: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? '';
    if (!isLeftOut(name)) kept.push(name, raw[i + 1] ?? '');
  }
  return kept;
}

const plain: readonly string[] = [];

/** The codings of a body, the outermost first, in one line or several. */
export function codingsOf(headers: readonly string[]): readonly string[] {
  const contentEncoding = headerList(headers, 'content-encoding');
  if (contentEncoding === undefined) return plain;
  const codings = contentEncoding.split(',').map((coding) => coding.trim().toLowerCase());
  return codings.filter((coding) => coding !== '' && coding !== 'identity').reverse();
}
