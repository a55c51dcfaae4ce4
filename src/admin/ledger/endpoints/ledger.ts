/** The ledger: requests by filter, one of them with its calls, what was kept of its bodies, as a file, and as they come. */

import type { ServerEvent } from '../../api/event-stream.ts';
import { actorOf } from '../../caller.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { Problem } from '../../problem.ts';
import { toInstant } from '../../shapes/common.ts';
import {
  capture,
  exportQuery,
  ledgerChoices,
  ledgerDetail,
  ledgerId,
  ledgerPage,
  ledgerQuery,
  tailQuery,
} from '../contract/ledger.ts';
import { exportRows } from '../export.ts';
import { readRows, toDetail, toFilter, toRow } from '../query.ts';
import type { TailEvent } from '../tail.ts';

const tag = 'Ledger';

export const listLedger = defineEndpoint({
  method: 'GET',
  path: '/api/ledger',
  summary: 'List requests, the newest first',
  tag,
  needs: 'viewer',
  query: ledgerQuery,
  answer: ledgerPage,
  async run({ query: { before, limit, ...query }, context }) {
    const { rows, next } = await readRows(context.store.ledger, query, { before, limit });
    return { items: rows.map(toRow), next: next ?? null };
  },
});

export const exportLedger = defineEndpoint({
  method: 'GET',
  path: '/api/ledger/export',
  summary: 'Download requests as CSV or as lines of JSON, 100,000 at most',
  tag,
  needs: 'viewer',
  query: exportQuery,
  streams: 'text/csv',
  run: ({ query: { format, ...query }, context }) => exportRows(context.store.ledger, query, format),
});

export const tailLedger = defineEndpoint({
  method: 'GET',
  path: '/api/ledger/tail',
  summary: 'Follow requests as they end, as server-sent events',
  tag,
  needs: 'viewer',
  query: tailQuery,
  streams: 'text/event-stream',
  run({ query, context, caller, headers, signal }) {
    const lastId = headers.get('last-event-id') ?? undefined;
    const from = lastId !== undefined && /^[0-9a-f]{32}$/.test(lastId) ? lastId : undefined;
    const { streams, tail } = context;
    return streams.open({ caller, headers, signal, context }, 'viewer', (over) =>
      toEvents(tail.watch(toFilter(query), from, over)),
    );
  },
});

async function* toEvents(events: AsyncIterable<TailEvent>): AsyncGenerator<ServerEvent, void, void> {
  for await (const event of events) {
    if (event.kind === 'row') yield { name: 'row', id: event.row.id, data: toRow(event.row) };
    else yield { name: event.kind, data: {} };
  }
}

export const listLedgerChoices = defineEndpoint({
  method: 'GET',
  path: '/api/ledger/choices',
  summary: 'List what requests can be filtered by: keys, projects, models and upstreams as they are now',
  tag,
  needs: 'viewer',
  answer: ledgerChoices,
  async run({ context }) {
    const { keys, projects, models, upstreams } = context.configuration.snapshot();
    const stored = await context.store.keys.list();
    const declared = [...keys.values()].map(({ id }) => ({ id, name: id }));
    return {
      keys: [...stored.map(({ id, name }) => ({ id, name })), ...declared],
      projects: [...projects.values()].map(({ id, name }) => ({ id, name: name ?? id })),
      models: models.all.map(({ id }) => id).filter((id) => !id.includes('*')),
      upstreams: [...upstreams.keys()],
    };
  },
});

export const getLedgerRow = defineEndpoint({
  method: 'GET',
  path: '/api/ledger/:id',
  summary: 'Show one request with its calls to upstreams',
  tag,
  needs: 'viewer',
  params: ledgerId,
  answer: ledgerDetail,
  async run({ params: { id }, context: { store } }) {
    const row = await store.ledger.get(id);
    if (row === undefined) throw noSuchRow();
    return toDetail(row, (await store.ledger.capture(id)) !== undefined);
  },
});

export const getCapture = defineEndpoint({
  method: 'GET',
  path: '/api/ledger/:id/capture',
  summary: 'Read what was asked and answered, where it is kept; each look is in the audit log',
  tag,
  needs: 'admin',
  params: ledgerId,
  answer: capture,
  async run({ params: { id }, context: { store }, caller }) {
    const found = await store.ledger.capture(id);
    if (found === undefined) {
      throw new Problem('not_found', {
        detail: 'Nothing is kept of this request: its key has no capture, or the time for it is over.',
      });
    }
    // First, so that nobody reads unseen.
    await store.audit.add({ actor: actorOf(caller), action: 'capture.read', subject: id, before: null, after: null });
    return { request: found.request, response: found.response, expiresAt: toInstant(found.expiresAtMs) };
  },
});

function noSuchRow(): Problem {
  return new Problem('not_found', {
    detail: 'The ledger holds no request with this ID: it is not over, came in just now, or was pruned.',
  });
}
