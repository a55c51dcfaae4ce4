/** The query parameters of a route with their grammar. Known ones are parsed and rewritten; all others are dropped and never logged. */

import { GatewayError } from './errors.ts';

interface QueryParameter {
  readonly pattern: RegExp;
  /** For people: what fits it. */
  readonly form: string;
  /** It may stand there several times. */
  readonly isList?: true;
}

/** By name, as it stands in the query. */
export type QueryGrammar = Readonly<Record<string, QueryParameter>>;

export interface Query {
  /** To go behind a path: empty, or the parameters without the question mark. */
  readonly text: string;
  /** The first value of a parameter. */
  get(name: string): string | undefined;
}

export const noQuery: Query = Object.freeze({ text: '', get: () => undefined });

/** Whoever asks for more than this asks for nothing that a row knows. */
const longestValue = 512;

/** What stands behind the question mark of a request target; empty where it has none. */
export function queryOf(target: string): string {
  const at = target.indexOf('?');
  return at === -1 ? '' : target.slice(at + 1);
}

/** `query` is what stands behind the question mark. Throws where a parameter that is known does not fit, or stands there twice. */
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

/** `path` may have a query of its own. */
export function withQuery(path: string, { text }: Query): string {
  if (text === '') return path;
  return `${path}${path.includes('?') ? '&' : '?'}${text}`;
}
