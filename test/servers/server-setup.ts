/** A gateway in front of one real server. */

import { type Offer, offersOf, standardOptions } from '../../src/core/family.ts';
import { toEntry, toJson } from '../families/family-setup.ts';
import type { FamilyFixture } from '../families/fixture.ts';
import { type Scope, startRig } from '../support/gateways/rig.ts';
import type { RealServer } from './real-servers.ts';

const patience = { first_byte: '5m', idle: '5m', total: '10m' };
const askTimeoutMs = 600_000;

export interface ServerAnswer {
  readonly status: number;
  readonly text: string;
  /** Undefined where the body is no JSON. */
  readonly json: unknown;
  header(name: string): string | undefined;
}

export interface ServerSetup {
  readonly server: RealServer;
  /** Whether the bytes of a plain request pass. */
  readonly passesBytes: boolean;
  /** By way of the gateway; the model is put in. */
  ask(route: string, body: object): Promise<ServerAnswer>;
  /** The server itself, where its shape is the client's. */
  askServer(body: object): Promise<ServerAnswer>;
}

export async function openServerSetup(t: Scope, server: RealServer): Promise<ServerSetup> {
  const { family, operation, url } = server;
  const { default: fixture }: { default: FamilyFixture } = await import(`../families/${family.id}.ts`);
  const model = server.model ?? (await listedModel(server)) ?? fixture.models?.[operation] ?? fixture.model;
  const hasPath = url.pathname !== '/';
  const entry = {
    ...toEntry(fixture, url.origin),
    ...(hasPath && { base_url: url.href.replace(/\/$/, '') }),
    ...(server.apiKey !== undefined && { api_key: server.apiKey }),
    timeouts: patience,
  };
  const rig = await startRig(t, {
    upstreams: [entry],
    models: [{ id: 'm', operations: [operation], targets: [{ upstream: 'up', model }] }],
  });
  const offer = offersOf(family, standardOptions(family)).openai?.[operation];
  if (offer === undefined) throw new TypeError(`${family.id} offers no ${operation}`);
  return {
    server,
    passesBytes: offer.translation === undefined || offer.translation.isNeeded !== undefined,
    async ask(route, body) {
      const answer = await rig.post(route, { model: 'm', ...body }, { timeoutMs: askTimeoutMs });
      const text = answer.body.toString();
      return { status: answer.status, text, json: toJson(text), header: (name) => answer.header(name) };
    },
    async askServer(body) {
      const answer = await fetch(addressOf(server, offer), {
        method: 'POST',
        headers: headersOf(server),
        body: JSON.stringify({ model, ...body }),
      });
      const text = await answer.text();
      return {
        status: answer.status,
        text,
        json: toJson(text),
        header: (name) => answer.headers.get(name) ?? undefined,
      };
    },
  };
}

/** The offer's path, whose version may stand in the address already. */
function addressOf({ url, family: { versions = [] } }: RealServer, { path }: Offer): string {
  const base = url.href.replace(/\/$/, '');
  const version = versions.find((one) => base.endsWith(one) && path.startsWith(one));
  return base + (version === undefined ? path : path.slice(version.length));
}

const headersOf = ({ apiKey }: RealServer): Record<string, string> => ({
  'content-type': 'application/json',
  ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
});

/** The first of its own list that does what is asked. */
async function listedModel(server: RealServer): Promise<string | undefined> {
  const { family, operation, url } = server;
  if (family.modelList === undefined) return undefined;
  const answer = await fetch(new URL(family.modelList.path, url), { headers: headersOf(server) });
  if (!answer.ok) return undefined;
  const listed = family.modelList.read(toJson(await answer.text()));
  return listed?.find(({ operations }) => operations === undefined || operations.includes(operation))?.id;
}
