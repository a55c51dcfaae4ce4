/** Builds multipart/form-data byte by byte. */

export interface Part {
  readonly name: string;
  readonly value: string | Buffer;
  readonly filename?: string;
  readonly type?: string;
  /** Further lines of its head. */
  readonly more?: readonly string[];
}

export const boundary = '----a-boundary-0123456789';
export const formType = `multipart/form-data; boundary=${boundary}`;

export function toForm(parts: readonly Part[]): Buffer {
  const pieces = parts.flatMap(({ name, value, filename, type, more = [] }) => {
    const disposition = `Content-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}`;
    const head = [disposition, ...(type === undefined ? [] : [`Content-Type: ${type}`]), ...more];
    return [Buffer.from(`--${boundary}\r\n${head.join('\r\n')}\r\n\r\n`), Buffer.from(value), Buffer.from('\r\n')];
  });
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

/** Each field a part of text, with a file beside them. */
export const formWith = (fields: Readonly<Record<string, unknown>>, file: Part): Buffer =>
  toForm([file, ...Object.entries(fields).map(([name, value]) => ({ name, value: `${value}` }))]);
