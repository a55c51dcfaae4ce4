/** Describes how to call an endpoint: method, path, and parameters of path, query and body. */

import type { Endpoints } from '../../../../src/admin/contract.ts';

/** Such as `GET /api/keys/:id`. */
export type EndpointKey = keyof Endpoints;

export type AnswerOf<K extends EndpointKey> = Endpoints[K]['answer'];

type PartOf<K extends EndpointKey, Part extends keyof Endpoints[K]> = Endpoints[K][Part];

/** What an endpoint does not take cannot be given; what it can do without may be left out. */
type Given<Name extends string, Part> = [Part] extends [undefined]
  ? { readonly [N in Name]?: undefined }
  : Record<never, never> extends Part
    ? { readonly [N in Name]?: Part }
    : { readonly [N in Name]: Part };

type GivenBody<Part> = undefined extends Part ? { readonly body?: Part } : { readonly body: Part };

/** What stands in the address. */
export type AddressParts<K extends EndpointKey> = Given<'params', PartOf<K, 'params'>> &
  Given<'query', PartOf<K, 'query'>>;

/** All that is asked with. */
export type AskedParts<K extends EndpointKey> = AddressParts<K> & GivenBody<PartOf<K, 'body'>>;

/** Left out where nothing has to be given. */
export type Optional<T> = Record<never, never> extends T ? [given?: T] : [given: T];

/** The same of any endpoint. */
export interface AnyAddress {
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined;
}

/** The address itself: each parameter one encoded segment, and of the query what is said. */
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

/** A word of an address that is none of those that can be asked for is left out. */
export function oneOf<T extends string>(words: readonly T[], text: string | null | undefined): T | undefined {
  return words.find((word) => word === text);
}

/** The same parameters with others in their place; those without a value are left out. */
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
