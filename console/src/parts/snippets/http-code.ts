/** Writes a gateway call as code over plain HTTP, for Python (requests) and JavaScript (fetch), with any body, form or stream. */

export interface HttpCall {
  /** The base URL of clients, before `/v1/...`. */
  readonly baseUrl: string;
  readonly path: string;
  /** The JSON body; undefined for a form. */
  readonly body?: unknown;
  /** The parts of a form; files by their names, as if they were in the folder where the code runs. */
  readonly parts?: readonly { readonly name: string; readonly value: string; readonly isFile: boolean }[];
  readonly isStream?: boolean;
}

export function toPython({ baseUrl, path, body, parts, isStream = false }: HttpCall): string {
  const url = JSON.stringify(baseUrl + path);
  const texts = parts?.filter(({ isFile }) => !isFile) ?? [];
  const files = parts?.filter(({ isFile }) => isFile) ?? [];
  return [
    'import os',
    '',
    'import requests',
    '',
    'answer = requests.post(',
    `    ${url},`,
    '    headers={"Authorization": f"Bearer {os.environ[\'POSTERN_KEY\']}"},',
    ...(parts === undefined ? [`    json=${pythonOf(body, '    ')},`] : []),
    ...(texts.length > 0
      ? [
          `    data=[${texts.map(({ name, value }) => `(${JSON.stringify(name)}, ${JSON.stringify(value)})`).join(', ')}],`,
        ]
      : []),
    ...(files.length > 0
      ? [
          `    files=[${files.map(({ name, value }) => `(${JSON.stringify(name)}, open(${JSON.stringify(value)}, "rb"))`).join(', ')}],`,
        ]
      : []),
    ...(isStream ? ['    stream=True,'] : []),
    ')',
    'answer.raise_for_status()',
    ...(isStream
      ? ['for line in answer.iter_lines(decode_unicode=True):', '    print(line)']
      : ['print(answer.headers.get("x-request-id"))', 'print(answer.text)']),
  ].join('\n');
}

export function toJavaScript({ baseUrl, path, body, parts, isStream = false }: HttpCall): string {
  const url = JSON.stringify(baseUrl + path);
  const files = parts?.filter(({ isFile }) => isFile) ?? [];
  const form = (parts ?? []).map(({ name, value, isFile }) =>
    isFile
      ? `form.append(${JSON.stringify(name)}, new Blob([await readFile(${JSON.stringify(value)})]), ${JSON.stringify(value)});`
      : `form.append(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  );
  return [
    ...(files.length > 0 ? ["import { readFile } from 'node:fs/promises';", ''] : []),
    ...(parts === undefined ? [] : ['const form = new FormData();', ...form, '']),
    `const answer = await fetch(${url}, {`,
    "  method: 'POST',",
    '  headers: {',
    "    authorization: 'Bearer ' + process.env.POSTERN_KEY,",
    ...(parts === undefined ? ["    'content-type': 'application/json',"] : []),
    '  },',
    parts === undefined
      ? `  body: JSON.stringify(${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')}),`
      : '  body: form,',
    '});',
    "if (!answer.ok) throw new Error(answer.status + ': ' + (await answer.text()));",
    ...(isStream
      ? [
          'for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {',
          '  process.stdout.write(piece);',
          '}',
        ]
      : ['console.log(await answer.text());']),
  ].join('\n');
}

/** A value as Python code, over several lines if it is long. */
function pythonOf(value: unknown, indent: string): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}    `;
  const isList = Array.isArray(value);
  const items = isList
    ? value.map((item) => pythonOf(item, inner))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([name, item]) => `${JSON.stringify(name)}: ${pythonOf(item, inner)}`);
  const [open, close] = isList ? '[]' : '{}';
  if (items.length === 0) return `${open}${close}`;
  return `${open}\n${items.map((item) => `${inner}${item},`).join('\n')}\n${indent}${close}`;
}
