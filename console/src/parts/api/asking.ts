/** Describes how to call an endpoint: method, path, and parameters of path, query and body. */

import type { Endpoints } from '../../../../src/admin/contract.ts';

/** Method and path of an endpoint, such as `GET /api/keys/:id`. */
export type EndpointKey = keyof Endpoints;

export type AnswerOf<K extends EndpointKey> = Endpoints[K]['answer'];

type PartOf<K extends EndpointKey, Part extends keyof Endpoints[K]> = Endpoints[K][Part];

/** The type of a part that is given with a call: only what the endpoint takes; optional parts may be left out. */
type Given<Name extends string, Part> = [Part] extends [undefined]
  ? { readonly [N in Name]?: undefined }
  : Record<never, never> extends Part
    ? { readonly [N in Name]?: Part }
    : { readonly [N in Name]: Part };

type GivenBody<Part> = undefined extends Part ? { readonly body?: Part } : { readonly body: Part };

export type AddressParts<K extends EndpointKey> = Given<'params', PartOf<K, 'params'>> &
  Given<'query', PartOf<K, 'query'>>;

export type AskedParts<K extends EndpointKey> = AddressParts<K> & GivenBody<PartOf<K, 'body'>>;

/** A function's last parameter, which may be left out if nothing has to be given. */
export type Optional<T> = Record<never, never> extends T ? [given?: T] : [given: T];

export interface AnyAddress {
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined;
}

/** The URL: each path parameter is one encoded segment, and undefined query parameters are left out. */
export function toAddress<K extends EndpointKey>(key: K, ...given: Optional<AddressParts<K>>): string;
export function toAddress(key: EndpointKey, given: AnyAddress = {}): string {
  return writeAddress(key, given);
}

export function writeAddress(key: EndpointKey, { params = {}, query = {} }: AnyAddress): string {
  const path = key.slice(key.indexOf(' ') + 1).replace(/:(\w+)/g, (_, name) => encodeURIComponent(params[name] ?? ''));
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') said.set(name, String(value));
  }
  return said.size === 0 ? path : `${path}?${said}`;
}

export const methodOf = (key: EndpointKey): string => key.slice(0, key.indexOf(' '));

export function oneOf<T extends string>(words: readonly T[], text: string | null | undefined): T | undefined {
  return words.find((word) => word === text);
}

/** The same URL parameters with some replaced; those without a value are left out. */
export function withParameters(
  before: URLSearchParams,
  changes: Readonly<Record<string, string | undefined>>,
): URLSearchParams {
  const next = new URLSearchParams(before);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) next.delete(name);
    else next.set(name, value);
  }
  return next;
}
