/** Every input over the network or command line, filled with a hostile text. */

import { toRequestBytes } from '../../../support/clients/raw-client.ts';

export interface HostileRequest {
  readonly what: string;
  readonly bytes: Buffer;
  /** By which the ledger knows it, should it be accepted. */
  readonly model: string | undefined;
}

const keyHeaders = ['Authorization', 'x-api-key', 'api-key', 'x-goog-api-key'];
const path = '/v1/embeddings';
const longestTarget = 16_000;

/** Counts that are none, or that no column of whole numbers takes. */
const strangeCounts: readonly unknown[] = [-1, 1.5, 1e300, 2 ** 53, '12', null, [], true];

export function toRequests(text: string, clientKey: string): HostileRequest[] {
  const own: [string, string] = ['x-api-key', clientKey];
  const shown = JSON.stringify(text.slice(0, 40));
  const post = (what: string, body: unknown, headers: [string, string][] = [own], model?: string): HostileRequest => ({
    what: `${what} ${shown}`,
    bytes: toRequestBytes({ path, headers, body }),
    model,
  });
  const field = toFieldValue(text);
  const fine = { model: 'fine', input: 'x' };
  return [
    ...keyHeaders.map((header) =>
      post(`a stranger's key in ${header}`, fine, [[header, header === 'Authorization' ? `Bearer ${field}` : field]]),
    ),
    post('a key and more', fine, [['Authorization', field]]),
    post('an ID of the client', fine, [own, ['x-request-id', field]], 'fine'),
    post(
      'other headers',
      fine,
      [own, ['traceparent', field], ['x-forwarded-for', field], ['idempotency-key', field]],
      'fine',
    ),
    post('a model', { model: text, input: 'x' }, [own], text),
    post('a model as before', { model: `a${text}b`, input: 'x' }, [own], `a${text}b`),
    post('a body', { model: 'fine', input: text, user: text, [text]: text }, [own], 'fine'),
    post("an upstream's error", { ...fine, say: text }),
    ...strangeCounts.map((count) =>
      post(
        'counts of an upstream',
        { ...fine, usage: { prompt_tokens: count, total_tokens: count, [text]: text } },
        [own],
        'fine',
      ),
    ),
    ...toPaths(text, own).map(([what, bytes]) => ({ what: `${what} ${shown}`, bytes, model: undefined })),
  ];
}

/** No line end and no NUL: with them the request is another one, and that is what other promises are about. */
const toFieldValue = (text: string): string => text.replaceAll(/[\r\n\0]/g, ' ');

function toPaths(text: string, own: [string, string]): [string, Buffer][] {
  const encoded = encodeURIComponent(text.toWellFormed());
  if (encoded.length > longestTarget) return [];
  const ask = (method: string, path: string, body?: unknown): Buffer =>
    toRequestBytes({ method, path, headers: [own], ...(body === undefined ? {} : { body }) });
  return [
    // What the path means is for another promise; an error of it is refused before it has a row, and an accepted one is no model of the above.
    ['a model of the path', ask('POST', `/v1/engines/path-${encoded}/embeddings`, { input: 'x' })],
    ['a model to look at', ask('GET', `/v1/models/${encoded}`)],
    ['a query', ask('GET', `/v1/models?${encoded}=${encoded}`)],
    ['a path', ask('GET', `/v1/${encoded}`)],
  ];
}

export interface HostileCommand {
  readonly args: readonly string[];
  /** Of the file that is applied. */
  readonly content?: string;
}

const filters = ['key', 'project', 'model', 'upstream', 'operation', 'outcome', 'from', 'to'];

export function toCommands(text: string, file: string): HostileCommand[] {
  const commands = [
    ...['name', 'project', 'models', 'operations', 'addresses', 'expires', 'limit', 'budget', 'capture'].map(
      (option) => [...['keys', 'create', `--${option}=${text}`]],
    ),
    ['keys', 'create', `--metadata=note=${text}`],
    ['keys', 'create', `--metadata=${text}=note`],
    ['keys', 'create', `--budget=month=${text}`],
    ['keys', 'show', '--', text],
    ['keys', 'update', '--name=x', '--', text],
    ['keys', 'rotate', `--overlap=${text}`, '--', text],
    ['keys', 'rotate', '--', text],
    ['keys', 'revoke', '--', text],
    ...filters.flatMap((option) => [
      ['usage', `--${option}=${text}`, '--json'],
      ['ledger', 'tail', `--${option}=${text}`, '--json'],
    ]),
    ['usage', `--by=${text}`],
    ['ledger', 'tail', `--status=${text}`],
    ['ledger', 'tail', `--limit=${text}`],
    ['ledger', 'show', '--', text],
    ['resources', 'show', 'upstream', '--', text],
    ['resources', 'show', '--', text, text],
    ['resources', 'delete', 'project', '--', text],
  ];
  // What stands behind the two dashes is no option any more, so the file of the configuration goes before them.
  return [
    ...commands.map((args) => ({ args })),
    ...toFiles(text).map((content) => ({ args: ['resources', 'apply', file], content })),
  ];
}

function toFiles(text: string): string[] {
  const models = [{ id: text, aliases: [text], targets: [{ upstream: text, model: text }] }];
  return [
    { projects: [{ id: text, name: text }] },
    { projects: [{ id: 'hostile', name: text }] },
    { upstreams: [{ id: text, family: text, base_url: text, api_key: text, headers: { [text]: text } }] },
    { models },
    { models: [{ id: `model ${text}`, operations: ['embeddings'], targets: [{ upstream: 'up', model: text }] }] },
    { [text]: text },
  ].map((document) => JSON.stringify(document));
}
