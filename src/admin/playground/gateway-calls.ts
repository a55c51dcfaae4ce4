/** Calls the gateway through its own listener, as a client would: the same key check, limits, ledger and headers. */

import type { UnderlyingByteSource } from 'node:stream/web';
import { createSecureContext } from 'node:tls';
import type { StoredKey } from '../../core/store/keys.ts';
import type { Store } from '../../core/store/store.ts';
import { isSocketUrl, socketHost, socketOf, toSocketOrigin, toSocketUrl } from '../../lib/addresses/socket-origin.ts';
import { headerValue } from '../../lib/raw-headers.ts';
import { createSecret, digestOf, hintOf } from '../../lib/secrets/key-secret.ts';
import { codeOf } from '../../lib/thrown.ts';
import type { AnswerHandler, ClientCall, ClientRequest } from '../../wire/client-call.ts';
import { ClientPool } from '../../wire/client-pool.ts';
import { createDirectConnector, TlsClient, toPlace } from '../../wire/connect.ts';
import { Wheel } from '../../wire/wheel.ts';
import { Problem } from '../problem.ts';
import { type GatewayRoute, toGatewayPath } from './contract/playground.ts';

export interface GatewayCall {
  readonly route: GatewayRoute;
  /** Where the path names it; elsewhere it stands in the body. */
  readonly model?: string | undefined;
  /** Sent as it is. */
  readonly body: Uint8Array;
  /** JSON where it does not say. */
  readonly contentType?: string | undefined;
  /** The caller's own key; without one it is the console's. */
  readonly key?: string | undefined;
  /** By which the call is found in the ledger. */
  readonly requestId: string;
  readonly signal: AbortSignal;
}

export type GatewayCalls = Pick<ReturnType<typeof createGatewayCalls>, 'send'>;

interface GatewayCallsDeps {
  readonly consoleKey: ReturnType<typeof createConsoleKey>;
  /** Where clients are served, such as `http://0.0.0.0:4000/ai`, or `unix:/run/postern.sock:/ai`. */
  clientUrl(): string;
  /** The listener's own certificate, where it speaks TLS. PEM text. */
  certificate(): string | undefined;
}

const passedOn =
  /^(?:content-encoding|server-timing|retry-after|x-request-id|x-upstream-request-id|x-should-retry|x-postern-.+|x-ratelimit-.+)$/;
/** Anything else would be for a browser to interpret, and an upstream wrote it; sound runs nothing. */
const plainTypes = /^(?:application\/(?:[\w.-]+\+)?json|text\/event-stream|text\/plain|audio\/[\w.+-]+)(?![\w.+-])/i;
const withoutBody: readonly number[] = [204, 205, 304];
const lostKeyCodes: readonly string[] = ['invalid_api_key', 'revoked_api_key'];
const maxConnections = 32;
const clientClosedStatus = 499;
const connectMs = 10_000;
const wheelStepMs = 100;

export function createGatewayCalls({ consoleKey, clientUrl, certificate }: GatewayCallsDeps) {
  let agent:
    | { readonly certificate: string | undefined; readonly origin: string; readonly pool: ClientPool }
    | undefined;

  function poolTo(origin: string): ClientPool {
    const now = certificate();
    if (agent !== undefined && agent.certificate === now && agent.origin === origin) return agent.pool;
    void agent?.pool.close();
    agent = { certificate: now, origin, pool: createPool(origin, now) };
    return agent.pool;
  }

  async function ask(call: GatewayCall, key: string): Promise<GatewayAnswer> {
    const { origin, prefix } = split(toReachable(clientUrl()));
    try {
      const request = {
        method: 'POST',
        path: prefix + toGatewayPath(call.route, call.model),
        headers: [
          ...['authorization', `Bearer ${key}`],
          ...['content-type', call.contentType ?? 'application/json'],
          ...['x-request-id', call.requestId],
        ],
        body: Buffer.from(call.body.buffer, call.body.byteOffset, call.body.byteLength),
      };
      return await askGateway(poolTo(origin), request, call.signal);
    } catch (error) {
      if (call.signal.aborted) throw error;
      throw new Problem('upstream_failed', {
        detail: `The gateway's own listener for clients does not answer (${codeOf(error) ?? 'no answer'}); look whether it is there, and try again.`,
      });
    }
  }

  async function sendAsConsole(call: GatewayCall): Promise<Response> {
    const secret = await consoleKey.secret();
    const answer = await ask(call, secret);
    if (answer.status !== 401) return toResponse(answer);
    const text = await new Response(answer.body).text();
    // Somebody revoked the key, or another process took it over: once more, with another one.
    if (!lostKeyCodes.some((code) => text.includes(`"${code}"`))) return toResponse(answer, text);
    consoleKey.forget(secret);
    return toResponse(await ask(call, await consoleKey.secret()));
  }

  return {
    /** Whatever the gateway answers, errors too; a Problem only where it cannot be reached. */
    async send(call: GatewayCall): Promise<Response> {
      try {
        return call.key === undefined ? await sendAsConsole(call) : toResponse(await ask(call, call.key));
      } catch (error) {
        // Nobody is there to read it.
        if (call.signal.aborted) return new Response(null, { status: clientClosedStatus });
        throw error;
      }
    },
    close: async (): Promise<void> => {
      agent?.pool.destroy();
    },
  };
}

/** What is taken for safe is the very certificate that this gateway was given, whoever signed it and for whichever name. */
function createPool(origin: string, certificate: string | undefined): ClientPool {
  const tls =
    certificate === undefined
      ? new TlsClient({})
      : new TlsClient({
          secureContext: createSecureContext({ ca: certificate, allowPartialTrustChain: true }),
          checkServerIdentity: () => undefined,
        });
  // The gateway has time limits of its own, and says which one it was.
  const connect = createDirectConnector({ tcp: { noDelay: true }, tls, timeoutMs: connectMs });
  const wheel = new Wheel(wheelStepMs);
  const path = socketOf(origin);
  const place = path === undefined ? toPlace(origin) : { secure: false, host: socketHost, port: 0, path };
  const host = path === undefined ? new URL(origin).host : socketHost;
  return new ClientPool({ place, host, connect, connections: maxConnections, wheel });
}

function split(url: string): { readonly origin: string; readonly prefix: string } {
  if (isSocketUrl(url)) {
    const { socket, path } = toSocketUrl(url);
    return { origin: toSocketOrigin(socket), prefix: path };
  }
  const { origin, pathname } = new URL(url);
  return { origin, prefix: pathname === '/' ? '' : pathname };
}

/** An address that means every interface is listened on, but not called. */
export function toReachable(url: string): string {
  if (isSocketUrl(url)) return url;
  const reachable = new URL(url);
  if (reachable.hostname === '0.0.0.0') reachable.hostname = '127.0.0.1';
  if (reachable.hostname === '[::]') reachable.hostname = '[::1]';
  return reachable.href.replace(/\/$/, '');
}

function toResponse({ status, headers, body }: GatewayAnswer, text?: string): Response {
  // By it our page tells the gateway's own words from the console's.
  const type = headerValue(headers, 'content-type');
  const out = new Headers({ 'x-postern-answer': 'gateway', 'content-type': toPlainType(type) });
  for (let i = 0; i < headers.length; i += 2) {
    const name = (headers[i] ?? '').toLowerCase();
    if (passedOn.test(name)) out.append(name, headers[i + 1] ?? '');
  }
  if (text !== undefined) return new Response(text, { status, headers: out });
  if (withoutBody.includes(status)) {
    void body.cancel();
    return new Response(null, { status, headers: out });
  }
  // Each piece goes on as it comes; whoever stops reading ends the call.
  return new Response(body, { status, headers: out });
}

function toPlainType(type = ''): string {
  return plainTypes.test(type) ? type : 'text/plain; charset=utf-8';
}

/** An answer whose body is read as it comes. */
interface GatewayAnswer {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** Whoever cancels it ends the call. */
  readonly body: ReadableStream<Uint8Array>;
}

/** Resolves when the head is here; rejects where none comes, or the signal says so, which ends the body as well. */
function askGateway(pool: ClientPool, request: ClientRequest, signal: AbortSignal): Promise<GatewayAnswer> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    new BodyStream(signal, resolve, reject).send(pool, request);
  });
}

class BodyStream implements AnswerHandler, UnderlyingByteSource {
  readonly type = 'bytes';
  readonly #signal: AbortSignal;
  readonly #resolve: (answer: GatewayAnswer) => void;
  readonly #reject: (error: unknown) => void;
  #call: ClientCall | undefined = undefined;
  #body: ReadableByteStreamController | undefined = undefined;

  constructor(signal: AbortSignal, resolve: (answer: GatewayAnswer) => void, reject: (error: unknown) => void) {
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  send(pool: ClientPool, request: ClientRequest): void {
    this.#call = pool.send(request, this);
    this.#signal.addEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = (): void => {
    this.#call?.abort();
    this.onError(this.#signal.reason);
  };

  #settle(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
  }

  // What the connection tells.

  onStart(): void {}

  onSent(): void {}

  onFirstByte(): void {}

  onHead(status: number, _statusText: string, headers: readonly string[]): void {
    this.#resolve({ status, headers, body: new ReadableStream(this) });
  }

  onBody(piece: Buffer): void {
    // What is handed over belongs to the stream, and this may be a part of something larger.
    this.#body?.enqueue(new Uint8Array(piece));
    if ((this.#body?.desiredSize ?? 0) <= 0) this.#call?.pause();
  }

  onEnd(): void {
    this.#settle();
    this.#body?.close();
    this.#body?.byobRequest?.respond(0);
  }

  onError(error: unknown): void {
    this.#settle();
    this.#body?.error(error);
    this.#reject(error);
  }

  // What the stream asks.

  start(body: ReadableByteStreamController): void {
    this.#body = body;
  }

  pull(): void {
    this.#call?.resume();
  }

  cancel(): void {
    this.#settle();
    this.#call?.abort();
  }
}

const purposeName = 'postern.console';
const purpose = 'playground';
const hostName = 'postern.host';
const actor = 'console: playground';

/** One of the console's own, of whichever host. */
export const isConsoleKey = ({ metadata }: Pick<StoredKey, 'metadata'>): boolean => metadata[purposeName] === purpose;

interface ConsoleKeyDeps {
  readonly store: Pick<Store, 'keys'>;
  /** Where this process runs: two hosts with one store take nothing from each other. */
  readonly host: string;
  nowMs(): number;
}

export function createConsoleKey({ store: { keys }, host, nowMs }: ConsoleKeyDeps) {
  let held: Promise<string> | undefined;
  let heldSecret: string | undefined;

  async function obtain(): Promise<string> {
    const secret = createSecret();
    const fresh = { digest: digestOf(secret), hint: hintOf(secret) };
    const mine = (await keys.list()).find(isMine);
    // Nobody holds the former secret: whoever did has ended.
    const rotated = mine === undefined ? undefined : await keys.rotate(mine.id, fresh, nowMs(), actor);
    if (rotated !== undefined) return secret;
    const metadata = { [purposeName]: purpose, [hostName]: host };
    await keys.create({ ...fresh, name: `Playground (${host})`, models: ['*'], metadata }, actor);
    return secret;
  }

  /** By its metadata: people may give it another name. */
  const isMine = ({ metadata, revokedAtMs }: StoredKey): boolean =>
    revokedAtMs === undefined && metadata[purposeName] === purpose && metadata[hostName] === host;

  async function hold(): Promise<string> {
    try {
      heldSecret = await obtain();
      return heldSecret;
    } catch (error) {
      // Tried again by whoever asks next.
      held = undefined;
      throw error;
    }
  }

  return {
    secret(): Promise<string> {
      held ??= hold();
      return held;
    },
    /** The gateway knows this secret no more: the next one is another. */
    forget(secret: string) {
      if (heldSecret !== secret) return;
      held = undefined;
      heldSecret = undefined;
    },
  };
}
