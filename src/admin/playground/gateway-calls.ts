/** Calls the gateway through its own front door, as a client would: the same key check, limits, ledger and headers. */

import { Readable } from 'node:stream';
import { Agent, type Dispatcher, errors } from 'undici';
import { Problem } from '../problem.ts';
import type { ConsoleKey } from './console-key.ts';
import { type GatewayRoute, toGatewayPath } from './routes.ts';

export interface GatewayCall {
  readonly route: GatewayRoute;
  /** On the legacy path alone; elsewhere it stands in the body. */
  readonly model?: string | undefined;
  /** Sent as it is. */
  readonly body: Uint8Array;
  /** The caller's own key; without one it is the console's. */
  readonly key?: string | undefined;
  /** By which the call is found in the ledger. */
  readonly requestId: string;
  readonly signal: AbortSignal;
}

export interface GatewayCalls {
  /** Whatever the gateway answers, errors too; a Problem only where it cannot be reached. */
  send(call: GatewayCall): Promise<Response>;
}

export interface GatewayCallsDeps {
  readonly consoleKey: ConsoleKey;
  /** Where clients are served, such as `http://0.0.0.0:4000/ai`. */
  clientUrl(): string;
  /** The listener's own certificate, where it speaks TLS. PEM text. */
  certificate(): string | undefined;
}

const passedOn =
  /^(?:content-encoding|server-timing|retry-after|x-request-id|x-upstream-request-id|x-should-retry|x-postern-.+|x-ratelimit-.+)$/;
/** Anything else would be for a browser to interpret, and an upstream wrote it. */
const plainTypes = /^(?:application\/(?:[\w.-]+\+)?json|text\/event-stream|text\/plain)\b/i;
const withoutBody: readonly number[] = [204, 205, 304];
const lostKeyCodes: readonly string[] = ['invalid_api_key', 'revoked_api_key'];
const maxConnections = 32;
const clientClosedStatus = 499;

export function createGatewayCalls({ consoleKey, clientUrl, certificate }: GatewayCallsDeps) {
  let agent: { readonly certificate: string | undefined; readonly of: Agent } | undefined;

  function dispatcher(): Agent {
    const now = certificate();
    if (agent !== undefined && agent.certificate === now) return agent.of;
    void agent?.of.close();
    agent = { certificate: now, of: createAgent(now) };
    return agent.of;
  }

  async function ask(call: GatewayCall, key: string): Promise<Dispatcher.ResponseData> {
    const base = new URL(toReachable(clientUrl()));
    const prefix = base.pathname === '/' ? '' : base.pathname;
    try {
      return await dispatcher().request({
        origin: base.origin,
        path: prefix + toGatewayPath(call.route, call.model),
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'x-request-id': call.requestId,
        },
        body: call.body,
        signal: call.signal,
      });
    } catch (error) {
      if (call.signal.aborted) throw error;
      throw new Problem('upstream_failed', {
        detail: `The gateway's own listener for clients does not answer (${reasonOf(error)}); look whether it is there, and try again.`,
      });
    }
  }

  async function sendAsConsole(call: GatewayCall): Promise<Response> {
    const secret = await consoleKey.secret();
    const answer = await ask(call, secret);
    if (answer.statusCode !== 401) return toResponse(answer);
    const text = await answer.body.text();
    // Somebody revoked the key, or another process took it over: once more, with another one.
    if (!lostKeyCodes.some((code) => text.includes(`"${code}"`))) return toResponse(answer, text);
    consoleKey.forget(secret);
    return toResponse(await ask(call, await consoleKey.secret()));
  }

  const calls: GatewayCalls = {
    async send(call) {
      try {
        return call.key === undefined ? await sendAsConsole(call) : toResponse(await ask(call, call.key));
      } catch (error) {
        // Nobody is there to read it.
        if (call.signal.aborted) return new Response(null, { status: clientClosedStatus });
        throw error;
      }
    },
  };
  return {
    ...calls,
    close: async (): Promise<void> => {
      await agent?.of.destroy();
    },
  };
}

/** What is taken for safe is the very certificate that this gateway was given, whoever signed it and for whichever name. */
function createAgent(certificate: string | undefined): Agent {
  const connect =
    certificate === undefined
      ? {}
      : { ca: certificate, allowPartialTrustChain: true, checkServerIdentity: () => undefined };
  // The gateway has time limits of its own, and says which one it was.
  return new Agent({ connections: maxConnections, headersTimeout: 0, bodyTimeout: 0, allowH2: false, connect });
}

/** An address that means every interface is listened on, but not called. */
export function toReachable(url: string): string {
  const reachable = new URL(url);
  if (reachable.hostname === '0.0.0.0') reachable.hostname = '127.0.0.1';
  if (reachable.hostname === '[::]') reachable.hostname = '[::1]';
  return reachable.href.replace(/\/$/, '');
}

function toResponse({ statusCode: status, headers, body }: Dispatcher.ResponseData, text?: string): Response {
  // By it our page tells the gateway's own words from the console's.
  const out = new Headers({ 'x-postern-answer': 'gateway', 'content-type': toPlainType(headers['content-type']) });
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && passedOn.test(name)) out.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  if (text !== undefined) return new Response(text, { status, headers: out });
  if (withoutBody.includes(status)) {
    body.resume();
    return new Response(null, { status, headers: out });
  }
  return new Response(toWebStream(body), { status, headers: out });
}

function toPlainType(type: string | string[] | undefined): string {
  const text = Array.isArray(type) ? (type[0] ?? '') : (type ?? '');
  return plainTypes.test(text) ? text : 'text/plain; charset=utf-8';
}

/** Each piece goes on as it comes; whoever stops reading ends the call. */
function toWebStream(body: Readable): ReadableStream<Uint8Array> {
  return Readable.toWeb(body, { type: 'bytes' }) as ReadableStream<Uint8Array>;
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.UndiciError) return error.code;
  return error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
}
