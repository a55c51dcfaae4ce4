/** Finds names and request IDs on the server, for the command palette. */

import { ask } from '../api/client.ts';
import { formatTime } from '../words/format.ts';
import { requestWords } from '../words/operations.ts';
import { ranked, scoreOf } from './matching.ts';

export interface Found {
  readonly kind: 'model' | 'upstream' | 'key' | 'project' | 'request';
  readonly id: string;
  readonly label: string;
  readonly note?: string | undefined;
  readonly path: string;
}

/** The text to search for; for keys also an action: "revoke indexing". */
export interface Search {
  readonly text: string;
  readonly verb: 'Revoke' | 'Rotate' | undefined;
}

const verbs = ['Revoke', 'Rotate'] as const;

export function toSearch(typed: string): Search {
  const [, first = '', rest = ''] = /^(\S+)\s+(.+)$/.exec(typed) ?? [];
  const verb = verbs.find((one) => rest !== '' && scoreOf(first, [one]) !== undefined);
  return verb === undefined ? { text: typed, verb } : { text: rest, verb };
}

const limit = 8;
/** Limit of candidates for a misspelt name. */
const looseLimit = 50;
/** The number of letters at either end of a misspelt word that are assumed correct. */
const sureLetters = 3;

/** Finds elements by name. A list that cannot be fetched is left out, as the others are still useful. */
export async function findNamed({ text, verb }: Search, signal: AbortSignal): Promise<Found[]> {
  const lists = verb === undefined ? [models, upstreams, keys, projects, requests] : [keys];
  const found = await Promise.all(lists.map((list) => list(text, signal).catch(() => [])));
  return found.flat().map((one) => (verb === undefined ? one : { ...one, label: `${verb} ${one.label}` }));
}

type Read = (q: string, limit: number) => Promise<Found[]>;

/** The elements that match a text. The server finds parts of names; if it finds none, it searches for the ends of the word, and this ranks them. */
async function withTypos(text: string, read: Read): Promise<Found[]> {
  const exact = await read(text, limit);
  if (exact.length > 0 || text.length <= sureLetters) return exact;
  const ends = new Set([text.slice(0, sureLetters), text.slice(-sureLetters)]);
  const loose = (await Promise.all([...ends].map((end) => read(end, looseLimit)))).flat();
  const byId = [...new Map(loose.map((one) => [one.id, one])).values()];
  return ranked(text, byId, ({ id, label }) => [id, label]);
}

const models = (text: string, signal: AbortSignal): Promise<Found[]> =>
  withTypos(text, async (q, limit) => {
    const { items } = await ask('GET /api/models', { query: { q, limit }, signal });
    return items.map(({ id }) => ({ kind: 'model', id, label: id, path: `/models/${encodeURIComponent(id)}` }));
  });

const upstreams = (text: string, signal: AbortSignal): Promise<Found[]> =>
  withTypos(text, async (q, limit) => {
    const { items } = await ask('GET /api/upstreams', { query: { q, limit }, signal });
    return items.map(({ id }) => ({
      kind: 'upstream',
      id,
      label: id,
      path: `/upstreams/${encodeURIComponent(id)}`,
    }));
  });

const keys = (text: string, signal: AbortSignal): Promise<Found[]> =>
  withTypos(text, async (q, limit) => {
    const { items } = await ask('GET /api/keys', { query: { q, limit }, signal });
    return items.map(({ id, document: { name } }) => ({
      kind: 'key',
      id,
      label: name || id,
      note: name === undefined || name === id ? undefined : id,
      path: `/keys/${encodeURIComponent(id)}`,
    }));
  });

/** Finds projects. All are fetched: there are few, and the server has no search for them. */
async function projects(text: string, signal: AbortSignal): Promise<Found[]> {
  const { items } = await ask('GET /api/projects', { signal });
  return ranked(text, items, ({ id, document }) => [id, String(document.name ?? '')]).map(({ id, document }) => ({
    kind: 'project',
    id,
    label: typeof document.name === 'string' ? document.name : id,
    note: typeof document.name === 'string' ? id : undefined,
    path: `/keys/projects/${encodeURIComponent(id)}`,
  }));
}

const ownId = /^[0-9a-f]{4,32}$/i;
/** Shortest text that is searched as a client's ID; shorter ones are unlikely to be one. */
const shortestClientId = 6;

/** Finds requests: gateway IDs by their beginning, client IDs as a whole. */
async function requests(text: string, signal: AbortSignal): Promise<Found[]> {
  const read = async (query: { readonly id: string } | { readonly clientRequestId: string }): Promise<Found[]> => {
    const { items } = await ask('GET /api/ledger', { query: { ...query, limit: 5 }, signal });
    return items.map(({ id, operation, model, startedAt }) => ({
      kind: 'request',
      id,
      note: `${id}, ${formatTime(startedAt)}`,
      label: model === null ? requestWords[operation] : `${requestWords[operation]} with ${model}`,
      path: `/explorer?id=${id}`,
    }));
  };
  const own = ownId.test(text) ? await read({ id: text }) : [];
  if (own.length > 0 || text.length < shortestClientId || /\s/.test(text)) return own;
  return read({ clientRequestId: text });
}
