/** Implements the playground's endpoints: models to try, a call as a client would make it, and its ledger row. */

import { randomBytes } from 'node:crypto';
import type { Model } from '../../../core/snapshot.ts';
import { toDollars } from '../../../lib/money.ts';
import { inBackground } from '../../../lib/time-slices.ts';
import { actorOf, type Caller } from '../../caller.ts';
import { implement } from '../../implement.ts';
import { invalidField } from '../../problem.ts';
import * as contract from '../contract/playground.ts';
import { namesModelInPath } from '../contract/playground.ts';
import { toReachable } from '../gateway-calls.ts';

const keyHeader = 'x-postern-key';
const keyForm = /^[\x21-\x7e]{1,512}$/;
const longestName = 64;
const formType = /^multipart\/form-data;[\x20-\x7e]{1,200}$/i;
const mostFormBytes = 32 * 1024 * 1024;

export const listPlaygroundModels = implement(contract.listPlaygroundModels, async ({ query, context }) => {
  const { operation } = query;
  const models = context.configuration.snapshot().models.all;
  const fitting = operation === undefined ? models : models.filter(({ operations }) => operations.includes(operation));
  return {
    items: await inBackground.inSlices(fitting, toPlaygroundModel),
    clientUrl: toReachable(context.clientUrl()),
  };
});

function toPlaygroundModel({ id, aliases, operations, visible, space, targets }: Model) {
  const builtIn = targets.every(({ upstream }) => upstream.origin === undefined);
  const upstreams = [...new Set(targets.map(({ upstream }) => upstream.id))];
  return { id, aliases, operations, visible, space: space ?? null, builtIn, upstreams };
}

export const callPlayground = implement(
  contract.callPlayground,
  async ({ params: { route }, query: { model }, context, caller, headers, signal, raw }) => {
    if (namesModelInPath(route) && model === undefined) {
      throw invalidField('model', 'Name the model; on this route it is part of the path.');
    }
    const { bodyLimitBytes, uploadLimitBytes } = context.configuration.snapshot().server;
    const contentType = readForm(headers);
    // A form is held in memory here, unlike in the gateway.
    const body = await raw(contentType === undefined ? bodyLimitBytes : Math.min(uploadLimitBytes, mostFormBytes));
    const requestId = `playground.${toSlug(caller)}.${randomBytes(6).toString('hex')}`;
    return context.gatewayCalls.send({ route, model, body, contentType, key: readKey(headers), requestId, signal });
  },
);

/** The content type of a form, with its boundary; undefined for JSON. */
function readForm(headers: Headers): string | undefined {
  const type = headers.get('content-type') ?? '';
  return formType.test(type) ? type : undefined;
}

function toSlug(caller: Caller): string {
  const name = actorOf(caller).replace(/^[a-z]+: /, '');
  const slug = name.replace(/[^A-Za-z0-9.-]+/g, '-').slice(0, longestName);
  return slug === '' ? 'member' : slug;
}

/** The client key to use for this one call; it is never stored or logged. */
function readKey(headers: Headers): string | undefined {
  const key = headers.get(keyHeader) ?? undefined;
  if (key === undefined || keyForm.test(key)) return key;
  throw invalidField(keyHeader, 'A key has visible ASCII characters only, and 512 at most.');
}

export const getPlaygroundTry = implement(contract.getPlaygroundTry, async ({ params: { requestId }, context }) => {
  const { rows } = await context.store.ledger.page({ clientRequestId: requestId }, { limit: 1 });
  const [row] = rows;
  if (row === undefined) return { item: null };
  return {
    item: {
      ...row,
      cost: row.costNanos === null ? null : toDollars(row.costNanos),
      inputTokens: row.billedInputTokens,
      outputTokens: row.billedOutputTokens,
      searchUnits: row.billedSearchUnits,
    },
  };
});
