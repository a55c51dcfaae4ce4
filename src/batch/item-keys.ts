/** Computes cache keys of list items: a hash of everything that changes the result, and of the tenant that may share it. */

import type { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import type { ListSought } from '../core/lists.ts';
import type { Codec, ListRequest, Member } from './codecs/codec.ts';

/** A longer text in front of each item is replaced by its own hash. */
const longestPrefix = 1_000;
/** Version of the keys, part of every hash: entries of other versions do not match. */
const version = 1;

/** Returns a function from an item's bytes to its key. `generation` changes each time that the model's cache is cleared. */
export function keysFor(
  { exchange, resolved, identity }: ListSought,
  codec: Codec,
  request: ListRequest,
  generation: number,
): (item: Buffer) => string {
  const said = JSON.stringify([
    version,
    exchange.route?.operation,
    resolved.id,
    resolved.model.space,
    generation,
    tenantOf(exchange.key, resolved.model.cache?.scope),
    request.list.name,
    identity,
    parametersIn(request, ({ name }) => !codec.idle.includes(name)).toSorted(byName),
  ]);
  // A long prefix is hashed once, not for each item.
  const prefix = said.length > longestPrefix ? hash('sha256', said, 'hex') : said;
  return (item) => hash('sha256', `${prefix}\n${item.toString('latin1')}`, 'base64url');
}

/** Names a group of requests that can be joined: they differ only in their items and clients. */
export function groupOf({ exchange, resolved, identity }: ListSought, codec: Codec, request: ListRequest): string {
  const top = codec.topOf?.(request)?.span;
  return JSON.stringify([
    exchange.route?.operation,
    exchange.route?.label,
    exchange.lane,
    resolved.id,
    request.list.name,
    identity,
    parametersIn(request, ({ value }) => value !== top),
  ]);
}

/** The names and texts of a body's members, without the list and the model. */
const parametersIn = ({ body, list, members }: ListRequest, counts: (member: Member) => boolean): readonly string[][] =>
  members
    .filter((member) => member.value !== list && member.name !== 'model' && counts(member))
    .map(({ name, value: { start, end } }) => [name, body.toString('latin1', start, end)]);

/** Sorts by name only. Repeated names keep their order, because upstreams use the first or the last of them. */
const byName = ([a = '']: readonly string[], [b = '']: readonly string[]): number => (a < b ? -1 : a > b ? 1 : 0);

/** Who shares cached items: everybody, the keys of one project, or a single key that has no project. */
function tenantOf(key: ListSought['exchange']['key'], scope: 'project' | 'shared' | undefined): string {
  if (scope === 'shared') return '';
  return key?.project === undefined ? `key:${key?.id ?? ''}` : `project:${key.project}`;
}
