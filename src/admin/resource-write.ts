/** Reads and writes configured elements for several endpoints: pages, expected versions, and the response to each outcome. */

import type { ConfiguredElement, Conflict, ElementDocument, Written } from '../core/resource-editor.ts';
import type { ResourceKind } from '../core/store/resources.ts';
import { inBackground } from '../lib/time-slices.ts';
import { actorOf, type Caller } from './caller.ts';
import type { AdminContext } from './context.ts';
import { Reply } from './implement.ts';
import { Problem } from './problem.ts';
import { nextOf, toInstant } from './shapes/common.ts';

interface Asked {
  readonly caller: Caller;
  readonly context: AdminContext;
  readonly headers: Headers;
}

/** The `ETag` of a version. */
export const toTag = (version: number | undefined): string => `"${version ?? 0}"`;

/** The version that a write expects: from `If-Match`; 0 for `If-None-Match: *`; undefined without either. */
export function expectedVersion(headers: Headers): number | undefined {
  const match = headers.get('if-match');
  if (match === null) return headers.get('if-none-match') === '*' ? 0 : undefined;
  const version = /^(?:W\/)?"(\d{1,15})"$/.exec(match.trim())?.[1];
  if (version === undefined) {
    throw new Problem('malformed_request', { detail: 'If-Match must be one version in quotes, as in ETag.' });
  }
  return Number(version);
}

/** The version that a write expects, for writes that must name one. */
export function neededVersion(headers: Headers): number {
  const expected = expectedVersion(headers);
  if (expected !== undefined) return expected;
  throw new Problem('version_needed', {
    detail: 'Send If-Match with the ETag of the response, or If-None-Match: * to create it.',
  });
}

/** Answers a write with the new version as ETag; 201 if it created the element. */
export const replyWritten = <T extends Pick<Written, 'outcome' | 'version'>>(put: T): Reply<T> =>
  new Reply(put, { status: put.outcome === 'created' ? 201 : 200, headers: { etag: toTag(put.version) } });

export async function writeResource(
  kind: ResourceKind,
  id: string,
  document: ElementDocument,
  { caller, context, headers }: Asked,
  expected: number = neededVersion(headers),
): Promise<Written> {
  const put = await context.resources.put(kind, id, document, { expected, actor: actorOf(caller) });
  switch (put.outcome) {
    case 'faulty':
      throw faultsProblem(put.faults);
    case 'conflict':
      throw conflictProblem(kind, id, put, expected);
    case 'managed-elsewhere':
      throw managedProblem(put.element);
    default:
      return put;
  }
}

/** The error for a write that expected another version than the present one, with who changed it. */
export async function changedProblem(
  { kind, id, version }: { kind: ResourceKind | 'key'; id: string; version: number },
  expected: number | undefined,
  { store }: Pick<AdminContext, 'store'>,
): Promise<Problem> {
  const [by] = await store.audit.page({ subject: id, action: `${kind}.`, limit: 1 });
  return conflictProblem(kind, id, { version, by }, expected);
}

export async function removeResource(
  kind: ResourceKind,
  id: string,
  { caller, context, headers }: Asked,
): Promise<void> {
  const expected = expectedVersion(headers);
  const removed = await context.resources.remove(kind, id, { expected, actor: actorOf(caller) });
  switch (removed.outcome) {
    case 'absent':
      throw absentProblem(kind, id);
    case 'conflict':
      throw conflictProblem(kind, id, removed, expected ?? 0);
    case 'needed':
      throw new Problem('in_use', { detail: `The ${kind} ${id} cannot be removed: ${removed.reasons.join('; ')}.` });
    case 'managed-elsewhere':
      throw managedProblem(removed.element);
    case 'removed':
  }
}

export function faultsProblem(faults: readonly { readonly path: string; readonly message: string }[]): Problem {
  const [first, ...others] = faults;
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return new Problem('invalid_fields', { detail: `${where}${first?.message ?? ''}${more}`, fields: faults });
}

/** The element with this ID. Throws a Problem if it does not exist. */
export async function findResource(
  kind: ResourceKind,
  id: string,
  { resources }: Pick<AdminContext, 'resources'>,
): Promise<ConfiguredElement> {
  const element = await resources.get(kind, id);
  if (element === undefined) throw absentProblem(kind, id);
  return element;
}

export function absentProblem(kind: ResourceKind, id: string): Problem {
  return new Problem('not_found', { detail: `There is no ${kind} ${JSON.stringify(id)}; see the list.` });
}

export function managedProblem({ kind, id, managedBy, place }: ConfiguredElement): Problem {
  if (managedBy === 'built-in') {
    return new Problem('managed_by_file', {
      detail: `The ${kind} ${id} was added by its upstream and is removed with it. To replace it, add one with the same ID.`,
    });
  }
  if (place === undefined) {
    return new Problem('managed_by_file', {
      detail: `The ${kind} ${id} is part of the embedded configuration, which is in force without a configuration file; write a postern.yaml to change it.`,
    });
  }
  return new Problem('managed_by_file', {
    detail: `The ${kind} ${id} is declared in ${place.file}, line ${place.line}; change it there, and it is in force at once.`,
  });
}

/** The audit log's actor as people read it: a member's address, an API token, or the command line. */
function toPersonWords(actor: string): string {
  if (actor.startsWith('console: ')) return actor.slice('console: '.length);
  if (actor.startsWith('token: ')) return `The API token ${actor.slice('token: '.length)}`;
  return actor === 'command line' ? 'Somebody at the command line' : actor;
}

/** A time such as `2026-11-21 14:05 UTC`. */
const toTimeWords = (atMs: number): string => `${toInstant(atMs).slice(0, 16).replace('T', ' ')} UTC`;

function conflictProblem(
  kind: ResourceKind | 'key',
  id: string,
  { version, by }: Omit<Conflict, 'outcome'>,
  expected: number | undefined,
): Problem {
  if (expected === 0) {
    return new Problem('already_there', { detail: `There is a ${kind} ${id} already; open it to change it.` });
  }
  const person = by === undefined ? 'Someone else' : toPersonWords(by.actor);
  const when = by === undefined ? '' : ` at ${toTimeWords(by.atMs)}`;
  const what = version === 0 ? 'removed' : 'changed';
  return new Problem('changed_meanwhile', {
    detail: `${person} ${what} the ${kind} ${id}${when}; check its present state, and save again.`,
    headers: { etag: toTag(version) },
  });
}

interface PageQuery {
  /** The last ID of the previous page. */
  readonly before?: string | undefined;
  readonly limit: number;
}

interface PageParts<T> {
  fits(element: ConfiguredElement): boolean;
  toView(element: ConfiguredElement): T;
  /** Compares two IDs in the order of the page. */
  readonly compare: (a: string, b: string) => number;
}

export async function toElementPage<T>(
  elements: readonly ConfiguredElement[],
  { before, limit }: PageQuery,
  { fits, toView, compare }: PageParts<T>,
) {
  const fitting = (await inBackground.inSlices(elements, (element) => (fits(element) ? [element] : []))).flat();
  fitting.sort((a, b) => compare(a.id, b.id));
  const rest = before === undefined ? fitting : fitting.filter(({ id }) => compare(id, before) > 0);
  const items = await inBackground.inSlices(rest.slice(0, limit), toView);
  return { items, next: nextOf(rest, limit), total: fitting.length };
}
