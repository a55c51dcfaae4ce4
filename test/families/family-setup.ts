/** A gateway in front of one fake service, as a family's fixture describes it. */

import { createServer } from 'node:http';
import { ZodError } from 'zod';
import { operationRows } from '../../src/core/operations/index.ts';
import { families } from '../../src/families/index.ts';
import { formType, formWith } from '../support/clients/forms.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { type Rig, type Scope, startRig, testKey } from '../support/gateways/rig.ts';
import type { FamilyFixture, WireCall, WireReply } from './fixture.ts';

/** Where each of many texts is a call, a busy machine takes its time. */
const askTimeoutMs = 60_000;

export interface Setup {
  readonly fixture: FamilyFixture;
  readonly rig: Rig;
  /** Every call that reached the service since the last change of hands. */
  readonly calls: readonly WireCall[];
  /** From now on. Without an answerer, the fixture's own. */
  answerWith(answerer?: (call: WireCall) => WireReply): void;
  ask(route: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answered>;
}

export interface Answered {
  readonly raw: RawResponse;
  readonly status: number;
  readonly text: string;
  /** The body as JSON; undefined where it is none. */
  readonly json: unknown;
  header(name: string): string | undefined;
}

/** Further keys of each, and of the configuration as a whole. */
interface SetupOptions {
  readonly upstream?: object | undefined;
  readonly target?: object | undefined;
  readonly model?: object;
  readonly whole?: object;
}

export async function openSetup(t: Scope, fixture: FamilyFixture, more: SetupOptions = {}): Promise<Setup> {
  const calls: WireCall[] = [];
  let answer: (call: WireCall) => WireReply = fixture.service;
  const { port } = await serve(t, (call) => {
    calls.push(call);
    return answer(call);
  });
  const rig = await startRig(t, toDocument(fixture, port, more));
  return {
    fixture,
    rig,
    calls,
    answerWith(answerer = fixture.service) {
      calls.length = 0;
      answer = answerer;
    },
    async ask(route, body, headers = {}) {
      const form = formAt(route);
      const raw = await rig.post(route, form === undefined ? body : toFormOf(body, form), {
        timeoutMs: askTimeoutMs,
        headers: [
          ['Authorization', `Bearer ${testKey}`],
          ['Content-Type', form === undefined ? 'application/json' : formType],
          ...Object.entries(headers),
        ],
      });
      const text = raw.body.toString();
      return { raw, status: raw.status, text, json: toJson(text), header: (name) => raw.header(name) };
    },
  };
}

/** The part that holds a file, where the route takes nothing but a form. */
const formAt = (route: string): string | undefined =>
  Object.values(operationRows).find(({ path }) => path === route)?.form;

/** What is no text already is made one, with a file before its fields. */
const toFormOf = (body: unknown, name: string): unknown =>
  typeof body === 'object' && body !== null && !Buffer.isBuffer(body)
    ? formWith({ ...body }, { name, value: 'a file', filename: 'a.mp3' })
    : body;

/** A pretended service, which ends with `t`. */
export async function serve(t: Scope, answer: (call: WireCall) => WireReply): Promise<{ readonly port: number }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const call: WireCall = {
        method: request.method ?? '',
        path: request.url ?? '',
        header: (name) => request.headers[name.toLowerCase()]?.toString(),
        text,
        body: toJson(text),
      };
      const { status = 200, headers = {}, body = '', events } = reply(answer, call);
      const bytes = events === undefined ? toText(body) : events.map((event) => `data: ${toText(event)}\n\n`).join('');
      const type = events === undefined ? 'application/json' : 'text/event-stream';
      response.writeHead(status, { 'content-type': type, ...headers }).end(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the service has no port');
  return { port: address.port };
}

/** What does not fit its schema, a service refuses. */
function reply(answer: (call: WireCall) => WireReply, call: WireCall): WireReply {
  try {
    return answer(call);
  } catch (error) {
    if (!(error instanceof ZodError)) throw error;
    return {
      status: 400,
      body: { error: { message: error.message, type: 'invalid_request_error', param: null, code: null } },
    };
  }
}

function toDocument(
  fixture: FamilyFixture,
  port: number,
  { upstream, target, model, whole }: SetupOptions,
): Readonly<Record<string, unknown>> {
  return {
    ...whole,
    upstreams: [{ ...toEntry(fixture, `http://127.0.0.1:${port}`), ...upstream }],
    models: [{ id: 'm', targets: [{ upstream: 'up', model: fixture.model, ...target }], ...model }],
  };
}

/** The upstream's entry for a service of the fixture's family at an origin. */
export function toEntry(fixture: FamilyFixture, origin: string): Readonly<Record<string, unknown>> {
  const family = families.find(({ id }) => id === fixture.family);
  const base = fixture.basePath ?? new URL(family?.baseUrl ?? 'http://h').pathname.replace(/\/$/, '');
  const common = { base_url: `${origin}${base}`, api_key: 'sk-service-0123456789', ...fixture.upstream };
  return { id: 'up', family: fixture.family, ...common };
}

export function toText(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

export function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
