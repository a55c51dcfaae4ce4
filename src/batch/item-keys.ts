/** Cache keys of list items: a hash of everything that changes the result, and the tenant that may share it. */

import type { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import type { ListSought } from '../core/lists.ts';
import type { Codec, ListRequest } from './codecs/codec.ts';

/** With the characters of an item behind it: a text holds no line break of its own. */
const longestPrefix = 1_000;
/** Of another version, nothing is understood any more. */
const version = 1;

/** The digests of items, by their bytes; `generation` is another one each time that the model's cache was cleared. */
export function keysFor(
  asked: ListSought,
  codec: Codec,
  request: ListRequest,
  generation: number,
): (item: Buffer) => string {
  const said = about(asked, codec, request, generation);
  // What is long is not looked through again for each item.
  const prefix = said.length > longestPrefix ? hash('sha256', said, 'hex') : said;
  return (item) => hash('sha256', `${prefix}\n${item.toString('latin1')}`, 'base64url');
}

/** Requests of one name may be asked as one: they differ in their items, and in whose they are. */
export function groupOf(asked: ListSought, codec: Codec, request: ListRequest): string {
  const { body, list, members } = request;
  const top = codec.topOf?.(request)?.place;
  const parameters = members
    .filter(({ name, value }) => value !== list && name !== 'model' && value !== top)
    .map(({ name, value: { start, end } }) => [name, body.toString('latin1', start, end)]);
  const { exchange, resolved, identity } = asked;
  return JSON.stringify([
    exchange.route?.operation,
    exchange.route?.label,
    exchange.lane,
    resolved.id,
    list.name,
    identity,
    parameters,
  ]);
}

function about(
  { exchange, resolved, identity }: ListSought,
  codec: Codec,
  request: ListRequest,
  generation: number,
): string {
  const { body, list, members } = request;
  const parameters = members
    .filter(({ name, value }) => value !== list && name !== 'model' && !codec.idle.includes(name))
    .map(({ name, value: { start, end } }) => [name, body.toString('latin1', start, end)]);
  return JSON.stringify([
    version,
    exchange.route?.operation,
    resolved.id,
    resolved.model.space,
    generation,
    tenantOf(exchange.key, resolved.model.cache?.scope),
    list.name,
    identity,
    parameters.toSorted(byName),
  ]);
}

/** Of one name, the order in which they stand counts: upstreams take the first or the last. */
const byName = ([a = '']: readonly string[], [b = '']: readonly string[]): number => (a < b ? -1 : a > b ? 1 : 0);

/** Whoever is in no project is alone. */
function tenantOf(key: ListSought['exchange']['key'], scope: 'project' | 'shared' | undefined): string {
  if (scope === 'shared') return '';
  return key?.project === undefined ? `key:${key?.id ?? ''}` : `project:${key.project}`;
}
