/** Calls the gateway through its own listener, as a client would: the same key check, limits, ledger and headers. */

import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import type { StoredKey } from '../../core/store/keys.ts';
import type { Store } from '../../core/store/store.ts';
import { isSocketUrl, socketHost, toSocketUrl } from '../../lib/addresses/socket-origin.ts';
import { createSecret, digestOf, hintOf } from '../../lib/secrets/key-secret.ts';
import { codeOf } from '../../lib/thrown.ts';
import { Problem } from '../problem.ts';
import { type GatewayRoute, toGatewayPath } from './contract/playground.ts';

export interface GatewayCall {
  readonly route: GatewayRoute;
  /** The model, for routes that have it in the path. */
  readonly model?: string | undefined;
  /** The request's body, which is sent unchanged. */
  readonly body: Uint8Array;
  /** The body's content type, by default JSON. */
  readonly contentType?: string | undefined;
  /** The client key to call with, by default the console's own. */
  readonly key?: string | undefined;
  readonly requestId: string;
  readonly signal: AbortSignal;
}

export type GatewayCalls = Pick<ReturnType<typeof createGatewayCalls>, 'send'>;

interface GatewayCallsDeps {
  readonly consoleKey: ReturnType<typeof createConsoleKey>;
  /** The clients' URL, such as `http://0.0.0.0:4000/ai`, or `unix:/run/postern.sock:/ai`. */
  clientUrl(): string;
  /** The certificate of the clients' listener, where it uses TLS. PEM text. */
  certificate(): string | undefined;
}

const passedOn =
  /^(?:content-encoding|server-timing|retry-after|x-request-id|x-upstream-request-id|x-should-retry|x-postern-.+|x-ratelimit-.+)$/;
/** Content types that pass to the browser: it would interpret others, although an upstream wrote them; audio is harmless. */
const plainTypes = /^(?:application\/(?:[\w.-]+\+)?json|text\/event-stream|text\/plain|audio\/[\w.+-]+)(?![\w.+-])/i;
const withoutBody: readonly number[] = [204, 205, 304];
const lostKeyCodes: readonly string[] = ['invalid_api_key', 'revoked_api_key'];
const maxConnections = 32;
/** Limit of an answer's headers, which include those that the gateway passes on from upstreams. */
const maxHeaderBytes = 64 * 1024;
const clientClosedStatus = 499;
const connectMs = 10_000;

export function createGatewayCalls({ consoleKey, clientUrl, certificate }: GatewayCallsDeps) {
  // Calls are rare: connections are not kept, as the listener closes idle ones.
  const agents = {
    http: new http.Agent({ maxSockets: maxConnections }),
    https: new https.Agent({ maxSockets: maxConnections }),
  };

  /** Resolves once the head of the answer has arrived; the signal also ends the body. */
  function open({ route, model, body, contentType = 'application/json', requestId, signal }: GatewayCall, key: string) {
    const { url, socketPath } = toAddress(toReachable(clientUrl()));
    const isSecure = url.protocol === 'https:';
    const ca = certificate();
    return new Promise<IncomingMessage>((resolve, reject) => {
      const request = (isSecure ? https : http).request(url, {
        method: 'POST',
        path: url.pathname.replace(/\/$/, '') + toGatewayPath(route, model),
        headers: { authorization: `Bearer ${key}`, 'content-type': contentType, 'x-request-id': requestId },
        agent: isSecure ? agents.https : agents.http,
        maxHeaderSize: maxHeaderBytes,
        signal,
        ...(socketPath !== undefined && { socketPath }),
        // Only the certificate of this gateway is trusted, for any name and issuer.
        ...(ca !== undefined && { ca, allowPartialTrustChain: true, checkServerIdentity: () => undefined }),
      });
      // The gateway has its own time limits, and reports them.
      request.once('socket', (socket) => {
        socket.setTimeout(connectMs, () => request.destroy(new Error('no connection')));
        socket.once(isSecure ? 'secureConnect' : 'connect', () => socket.setTimeout(0));
      });
      request.once('response', resolve).on('error', reject).end(body);
    });
  }

  async function ask(call: GatewayCall, key: string): Promise<IncomingMessage> {
    try {
      return await open(call, key);
    } catch (error) {
      if (call.signal.aborted) throw error;
      throw new Problem('upstream_failed', {
        detail: `The gateway's own listener for clients does not answer (${codeOf(error) ?? 'no answer'}); check that it is running, and try again.`,
      });
    }
  }

  async function sendAsConsole(call: GatewayCall): Promise<Response> {
    const secret = await consoleKey.secret();
    const answer = await ask(call, secret);
    if (answer.statusCode !== 401) return toResponse(answer);
    const text = await readText(answer);
    // The key was revoked, or rotated by another process: one retry with another key.
    if (!lostKeyCodes.some((code) => text.includes(`"${code}"`))) return toResponse(answer, text);
    await consoleKey.forget(secret);
    return toResponse(await ask(call, await consoleKey.secret()));
  }

  return {
    /** Calls the gateway and returns its answer, even an error; throws a Problem only where the gateway is unreachable. */
    async send(call: GatewayCall): Promise<Response> {
      try {
        return call.key === undefined ? await sendAsConsole(call) : toResponse(await ask(call, call.key));
      } catch (error) {
        // The reader has disconnected.
        if (call.signal.aborted) return new Response(null, { status: clientClosedStatus });
        throw error;
      }
    },
    close: async (): Promise<void> => {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

function toAddress(url: string): { readonly url: URL; readonly socketPath?: string } {
  if (!isSocketUrl(url)) return { url: new URL(url) };
  const { socket, path } = toSocketUrl(url);
  return { url: new URL(`http://${socketHost}${path}`), socketPath: socket };
}

/** The URL with a loopback address where it has the address of all interfaces, which cannot be called. */
export function toReachable(url: string): string {
  if (isSocketUrl(url)) return url;
  const reachable = new URL(url);
  if (reachable.hostname === '0.0.0.0') reachable.hostname = '127.0.0.1';
  if (reachable.hostname === '[::]') reachable.hostname = '[::1]';
  return reachable.href.replace(/\/$/, '');
}

function toResponse(answer: IncomingMessage, text?: string): Response {
  const { statusCode: status = 502, headersDistinct } = answer;
  // It distinguishes the gateway's errors from the console's.
  const headers = new Headers({
    'x-postern-answer': 'gateway',
    'content-type': toPlainType(headersDistinct['content-type']?.[0]),
  });
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    if (passedOn.test(name)) for (const value of values) headers.append(name, value);
  }
  if (text !== undefined) return new Response(text, { status, headers });
  if (withoutBody.includes(status)) {
    answer.resume();
    return new Response(null, { status, headers });
  }
  // Streamed; cancelling the stream ends the call.
  const strategy = new ByteLengthQueuingStrategy({ highWaterMark: answer.readableHighWaterMark });
  const body: NodeReadableStream<Uint8Array> = Readable.toWeb(answer, { strategy });
  return new Response(body as ReadableStream<Uint8Array>, { status, headers });
}

function toPlainType(type = ''): string {
  return plainTypes.test(type) ? type : 'text/plain; charset=utf-8';
}

const purposeName = 'postern.console';
const purpose = 'playground';
const hostName = 'postern.host';
const actor = 'console: playground';

/** Whether a key is the console's own, on any host. */
export const isConsoleKey = ({ metadata }: Pick<StoredKey, 'metadata'>): boolean => metadata[purposeName] === purpose;

interface ConsoleKeyDeps {
  readonly store: Pick<Store, 'keys'>;
  /** The host's name: two hosts with one store use different keys. */
  readonly host: string;
  nowMs(): number;
}

export function createConsoleKey({ store: { keys }, host, nowMs }: ConsoleKeyDeps) {
  let held: Promise<string> | undefined;

  async function obtain(): Promise<string> {
    const secret = createSecret();
    const fresh = { digest: digestOf(secret), hint: hintOf(secret) };
    const mine = (await keys.list()).find(isMine);
    // The process that had the former secret has ended.
    const rotated = mine === undefined ? undefined : await keys.rotate(mine.id, fresh, nowMs(), actor);
    if (rotated !== undefined) return secret;
    const metadata = { [purposeName]: purpose, [hostName]: host };
    await keys.create({ ...fresh, name: `Playground (${host})`, models: ['*'], metadata }, actor);
    return secret;
  }

  /** Whether a key is the console's own on this host, by its metadata: people may rename it. */
  const isMine = ({ metadata, revokedAtMs }: StoredKey): boolean =>
    revokedAtMs === undefined && metadata[purposeName] === purpose && metadata[hostName] === host;

  return {
    secret(): Promise<string> {
      held ??= obtain().catch((error: unknown) => {
        // The next caller tries again.
        held = undefined;
        throw error;
      });
      return held;
    },
    /** Forgets a secret that the gateway has refused, so that the next call gets another key. */
    async forget(secret: string): Promise<void> {
      const before = held;
      if ((await before) === secret && held === before) held = undefined;
    },
  };
}
