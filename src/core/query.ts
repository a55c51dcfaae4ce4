/** Parses the query string of a request by the route's grammar: known parameters are rewritten, all others are dropped and never logged. */

import { GatewayError } from './errors.ts';

interface QueryParameter {
  readonly pattern: RegExp;
  /** For people: a description of valid values. */
  readonly form: string;
  readonly isList?: true;
}

export type QueryGrammar = Readonly<Record<string, QueryParameter>>;

export interface Query {
  /** The known parameters as text for a path, without the question mark; empty where there are none. */
  readonly text: string;
  get(name: string): string | undefined;
}

export const noQuery: Query = Object.freeze({ text: '', get: () => undefined });

/** Longest value of a filter: a longer one matches nothing that a row has. */
const longestValue = 512;

/** The query string of a request target, without the question mark; empty where there is none. */
export function queryOf(target: string): string {
  const at = target.indexOf('?');
  return at === -1 ? '' : target.slice(at + 1);
}

/** Parses a query string without its question mark. Throws where a known parameter is invalid or repeated. */
export function readQuery(query: string, grammar: QueryGrammar): Query {
  if (query === '') return noQuery;
  const values = new Map<string, string>();
  const written: string[] = [];
  for (const [name, value] of new URLSearchParams(query)) {
    const parameter = Object.hasOwn(grammar, name) ? grammar[name] : undefined;
    if (parameter === undefined) continue;
    if (value.length > longestValue || !parameter.pattern.test(value)) throw unfit(name, parameter);
    if (values.has(name) && parameter.isList !== true) throw doubled(name);
    if (!values.has(name)) values.set(name, value);
    written.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  }
  return { text: written.join('&'), get: (name) => values.get(name) };
}

function unfit(name: string, { form }: QueryParameter): GatewayError {
  return new GatewayError('unsupported_parameter', {
    param: name,
    message: `The query parameter "${name}" is none that can be sent on; send ${form}, or leave it out.`,
  });
}

function doubled(name: string): GatewayError {
  return new GatewayError('duplicate_parameter', {
    param: name,
    message: `The query parameter "${name}" stands twice; keep one.`,
  });
}

export function withQuery(path: string, { text }: Query): string {
  if (text === '') return path;
  return `${path}${path.includes('?') ? '&' : '?'}${text}`;
}
