/** Writes a call as text: a curl command with the secret in a variable, and formatted JSON. */

import { type GatewayRoute, operationRows, pathOf } from '../../../../src/admin/contract.ts';
import { toBodyText, toCurlLine } from '../../parts/snippets/curl-line.ts';
import type { HttpCall } from '../../parts/snippets/http-code.ts';
import type { FormPart } from './call.ts';

interface CurlFacts {
  /** The base URL of clients, before `/v1/...`. */
  readonly baseUrl: string;
  readonly route: GatewayRoute;
  readonly model: string;
  readonly body: unknown;
  readonly form?: readonly FormPart[] | undefined;
}

export function toCurl({ baseUrl, route, model, body, form }: CurlFacts): string {
  const path = toPath(route, model);
  if (form !== undefined) return toCurlLine({ baseUrl, path, ...toFormFacts(form) });
  const text = toBodyText(body);
  return toCurlLine({ baseUrl, path, body: isLong(text) ? bodyFile : text, isStream: isStreamed(body) });
}

export function toHttpCall({ route, model, body, form }: Omit<CurlFacts, 'baseUrl'>, baseUrl: string): HttpCall {
  const path = toPath(route, model);
  if (form === undefined) return { baseUrl, path, body, isStream: isStreamed(body) };
  const parts = form.map(({ name, value }) =>
    typeof value === 'string' ? { name, value, isFile: false } : { name, value: value.name, isFile: true },
  );
  return { baseUrl, path, parts };
}

const isStreamed = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'stream' in body && body.stream === true;

/** The parts of a form, with files by their names, as if they were in the shell's current folder. */
function toFormFacts(form: readonly FormPart[]) {
  const files = form.flatMap(({ name, value }) => (typeof value === 'string' ? [] : [`${name}=@${value.name}`]));
  const texts = form.flatMap(({ name, value }) => (typeof value === 'string' ? [`${name}=${value}`] : []));
  return { parts: files, texts };
}

/** Stands for a body that is too long for a command line, such as one with images: the command reads it from a file. */
export const bodyFile = '@body.json';
const mostCharacters = 50_000;
const isLong = (text: string): boolean => text.length > mostCharacters;

/** The path of a route, with `{model}` where the model's name belongs. */
export const toPattern = (route: GatewayRoute): string =>
  route === 'engines-embeddings' ? '/v1/engines/{model}/embeddings' : operationRows[route].path;

export function toPath(route: GatewayRoute, model: string): string {
  if (route !== 'engines-embeddings') return pathOf(route, model);
  return `/v1/engines/${model.split('/').map(encodeURIComponent).join('/')}/embeddings`;
}

const mostNumbers = 8;
const mostItems = 60;
const mostOfText = 2_000;

interface Shortened {
  readonly text: string;
  readonly isShortened: boolean;
}

/** Cuts long vectors and long texts, and notes how much was left out. */
export function shorten(value: unknown): Shortened {
  let isShortened = false;

  function write(one: unknown, indent: string): string {
    if (Array.isArray(one)) return writeArray(one, indent);
    if (typeof one === 'object' && one !== null) return writeObject(Object.entries(one), indent);
    if (typeof one === 'string' && one.length > mostOfText) {
      isShortened = true;
      return `${JSON.stringify(one.slice(0, mostOfText))} … ${one.length - mostOfText} more characters`;
    }
    return JSON.stringify(one) ?? 'null';
  }

  function writeObject(entries: readonly (readonly [string, unknown])[], indent: string): string {
    if (entries.length === 0) return '{}';
    const inner = `${indent}  `;
    const lines = entries.map(([name, part]) => `${inner}${JSON.stringify(name)}: ${write(part, inner)}`);
    return `{\n${lines.join(',\n')}\n${indent}}`;
  }

  function writeArray(items: readonly unknown[], indent: string): string {
    if (items.length === 0) return '[]';
    const isNumbers = items.every((item) => typeof item === 'number');
    const most = isNumbers ? mostNumbers : mostItems;
    const left = items.length - most;
    const inner = `${indent}  `;
    const shown = items.slice(0, most).map((item) => write(item, inner));
    if (left > 0) {
      isShortened = true;
      shown.push(`… ${left} more`);
    }
    return isNumbers ? `[${shown.join(', ')}]` : `[\n${shown.map((line) => inner + line).join(',\n')}\n${indent}]`;
  }

  return { text: write(value, ''), isShortened };
}
