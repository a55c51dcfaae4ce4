/** Tests an upstream step by step on a separate connection, and reads its models. Nothing is stored. */

import { Buffer } from 'node:buffer';
import { isIP, type LookupFunction } from 'node:net';
import { performance } from 'node:perf_hooks';
import { type ListedModel, type SigningGround, withOptions } from '../../core/family.ts';
import { loopHeader } from '../../core/loop-mark.ts';
import type { CredentialCheck, Probe, ProbeProblem, ProbeReport, ProbeStep } from '../../core/probe.ts';
import type { Credential, Upstream } from '../../core/snapshot.ts';
import { socketOf, toUrlOrigin } from '../../lib/addresses/socket-origin.ts';
import type { Clock } from '../../lib/clock.ts';
import { readJson } from '../../lib/json/read-json.ts';
import { headerValue } from '../../lib/raw-headers.ts';
import { NeedleSearch } from '../../lib/secrets/needle-search.ts';
import { spellingsInErrors } from '../../lib/secrets/secret-spellings.ts';
import { layersOf } from '../../lib/secrets/unescape.ts';
import { codeOf, reasonOf } from '../../lib/thrown.ts';
import { ClientPool } from '../../wire/client-pool.ts';
import { exchange, type SmallAnswer } from '../../wire/exchange.ts';
import { Wheel } from '../../wire/wheel.ts';
import { createConnector, toDestination } from '../connections/connection.ts';
import type { ProxyRule } from '../connections/proxy-rule.ts';
import { toAddress } from '../endpoints/look-up.ts';
import { createSmallPost } from '../small-post.ts';
import { problemOfAnswer, problemOfError } from './probe-verdict.ts';

interface ProbeDeps {
  readonly proxyFor?: ProxyRule | undefined;
  readonly signing: SigningGround;
  readonly installation: string;
  /** For tests: replaces the platform's look-up of addresses. */
  readonly lookup?: LookupFunction | undefined;
  readonly patienceMs?: number;
}

const standardPatienceMs = 10_000;
const longestConnectMs = 10_000;
const longestListBytes = 8 * 1024 * 1024;
const mostCredentials = 8;
const wheelStepMs = 100;
const longestSaid = 200;

/** Times of the steps, on the monotonic clock. */
interface Marks {
  lookedUp?: { readonly atMs: number; readonly addresses: readonly string[] };
  connected?: { readonly atMs: number; readonly address: string };
  securedAtMs?: number;
  answeredAtMs?: number;
}

/** The request of the test: for the list of models where the family has one, else a free call without content. */
interface Question {
  readonly path: string;
  readonly isList: boolean;
  readonly body: Buffer | undefined;
}

export function createProbe(deps: ProbeDeps): Probe {
  return {
    async test(upstream, signal) {
      if (upstream.origin === undefined) return madeHere(upstream);
      const usable = upstream.credentials.filter(({ weight }) => weight > 0).slice(0, mostCredentials);
      using visit = new Visit(upstream, upstream.origin, deps, signal);
      const checks: CredentialCheck[] = [];
      let problem: ProbeProblem | undefined;
      let models: number | undefined;
      for (const credential of usable) {
        const outcome = await visit.ask(credential);
        checks.push({ id: credential.id, status: outcome.status, ok: outcome.problem === undefined });
        problem ??= outcome.problem;
        models ??= outcome.models?.length;
        if (outcome.status === 0) break;
      }
      return { ok: problem === undefined, steps: visit.steps(problem), credentials: checks, problem, models };
    },
    async models(upstream, signal) {
      const { family, origin, credentials } = upstream;
      if (origin === undefined) return { kind: 'listed', models: family.builtIn ?? [] };
      if (family.modelList === undefined) return { kind: 'no-list' };
      using visit = new Visit(upstream, origin, deps, signal);
      const { models, problem } = await visit.ask(credentials.find(({ weight }) => weight > 0) ?? credentials[0]);
      if (problem !== undefined) return { kind: 'failed', problem };
      return models === undefined ? { kind: 'no-list' } : { kind: 'listed', models };
    },
  };
}

function madeHere({ family }: Upstream): ProbeReport {
  const names: readonly ProbeStep['name'][] = ['look-up', 'connect', 'secure', 'ask'];
  return {
    ok: true,
    steps: names.map((name) => ({ name, state: 'skipped', ms: undefined, detail: 'answers in this process' })),
    credentials: [],
    problem: undefined,
    models: family.builtIn?.length,
  };
}

interface Outcome {
  /** The status; 0 without an answer. */
  readonly status: number;
  readonly problem: ProbeProblem | undefined;
  readonly models: readonly ListedModel[] | undefined;
}

/** Makes one connection to an upstream, and its request. */
class Visit {
  readonly #upstream: Upstream;
  readonly #url: URL;
  /** The path of a Unix socket, which replaces host and port. */
  readonly #socket: string | undefined;
  readonly #deps: ProbeDeps;
  readonly #signal: AbortSignal;
  readonly #client: ClientPool;
  readonly #startedAtMs = performance.now();
  readonly #marks: Marks = {};
  readonly #isProxied: boolean;
  #status = 0;
  #path = '';

  constructor(upstream: Upstream, origin: string, deps: ProbeDeps, signal: AbortSignal) {
    this.#upstream = upstream;
    this.#url = new URL(toUrlOrigin(origin));
    this.#socket = socketOf(origin);
    this.#deps = deps;
    this.#signal = AbortSignal.any([signal, AbortSignal.timeout(deps.patienceMs ?? standardPatienceMs)]);
    const proxy = deps.proxyFor?.(origin);
    this.#isProxied = proxy !== undefined;
    const marks = this.#marks;
    const { server, host } = toDestination(origin);
    const from = upstream.endpoints?.from;
    // Of listed endpoints the first is tested.
    const [listed] = proxy === undefined && typeof from === 'object' ? from.map(toAddress) : [];
    this.#client = new ClientPool({
      server: listed === undefined ? server : { ...server, address: listed.host, port: listed.port ?? server.port },
      host,
      wheel: new Wheel(wheelStepMs),
      connections: 1,
      connect: createConnector({
        secure: this.#isSecure,
        connectMs: Math.min(upstream.timeouts.embeddings.connectMs, longestConnectMs),
        tls: upstream.tls,
        proxy,
        lookup: deps.lookup,
        addresses: upstream.addresses,
        watch: {
          lookedUp: (addresses) => {
            marks.lookedUp ??= { atMs: performance.now(), addresses };
          },
          connected: (address) => {
            marks.connected ??= { atMs: performance.now(), address };
          },
          secured: () => {
            marks.securedAtMs ??= performance.now();
          },
        },
      }),
    });
  }

  [Symbol.dispose](): void {
    this.#client.destroy();
  }

  async ask(credential: Credential): Promise<Outcome> {
    const question = toQuestion(this.#upstream);
    this.#path = question.path.replace(/\?.*$/s, '');
    try {
      const answer = await this.#send(question, credential);
      this.#marks.answeredAtMs ??= performance.now();
      this.#status = answer.status;
      return this.#judge(question, answer, credential);
    } catch (error) {
      return { status: 0, problem: this.#problemOf(error), models: undefined };
    }
  }

  async #send({ path, body }: Question, credential: Credential): Promise<SmallAnswer> {
    const method = body === undefined ? 'GET' : 'POST';
    const type = body === undefined ? [] : ['content-type', 'application/json'];
    const { signing, installation } = this.#deps;
    const ours = ['accept', 'application/json', 'user-agent', 'postern', loopHeader, installation];
    const headers = [...ours, ...type, ...credential.headers];
    const { addresses } = this.#upstream;
    const signed = await credential.signer?.(
      { url: `${this.#url.origin}${path}`, headers, body: body ?? Buffer.alloc(0) },
      { nowMs: signing.nowMs, post: (url, fields, text) => signing.post(url, fields, text, addresses) },
    );
    return exchange(
      this.#client,
      { method, path, headers: [...headers, ...(signed ?? [])], body },
      { limitBytes: longestListBytes, beyond: 'fail', signal: this.#signal },
    );
  }

  #judge({ isList }: Question, { status, headers, body }: SmallAnswer, credential: Credential): Outcome {
    const parsed = readJson(body.toString('utf8'));
    const models = isList && status < 300 ? this.#upstream.family.modelList?.read(parsed) : undefined;
    const problem = problemOfAnswer({
      status,
      contentType: headerValue(headers, 'content-type') ?? '',
      models: models?.length,
      asksForList: isList,
      path: this.#path,
      hasCredential: hasKey(credential, this.#upstream),
      said: this.#excerptOf(parsed, credential),
    });
    return { status, problem, models };
  }

  /** A part of the answer for people. A text that contains a secret is not shown. */
  #excerptOf(parsed: unknown, { signer }: Credential): string {
    const text = messageIn(parsed)
      .replace(/[\p{C}\s]+/gu, ' ')
      .trim();
    const secrets = [...this.#upstream.secrets, ...(signer?.secrets?.() ?? [])];
    const needles = new NeedleSearch(secrets.flatMap(spellingsInErrors));
    if (layersOf(Buffer.from(text)).some((layer) => needles.find(layer) !== -1)) return '';
    return text.length > longestSaid ? `${text.slice(0, longestSaid)}…` : text;
  }

  #problemOf(error: unknown): ProbeProblem {
    const isTimeout = error instanceof Error && (error.name === 'TimeoutError' || this.#signal.aborted);
    const message = reasonOf(error);
    if (message.startsWith('the token endpoint')) {
      return {
        message: `${message}.`,
        advice: 'See whether the credential is whole and still valid.',
        field: 'api_key',
      };
    }
    return problemOfError({
      code: isTimeout ? 'timeout' : firstCodeOf(error),
      message,
      step: this.#stepReached(),
      host: this.#socket ?? this.#url.host,
      isSecure: this.#isSecure,
    });
  }

  get #isSecure(): boolean {
    return this.#url.protocol === 'https:';
  }

  /** The step that the test was in when it failed. */
  #stepReached(): ProbeStep['name'] {
    const { lookedUp, connected, securedAtMs } = this.#marks;
    if (connected === undefined) return lookedUp === undefined && this.#looksUp ? 'look-up' : 'connect';
    return this.#isSecure && securedAtMs === undefined ? 'secure' : 'ask';
  }

  get #looksUp(): boolean {
    if (this.#socket !== undefined) return false;
    return !this.#isProxied && isIP(this.#url.hostname.replace(/^\[(.*)\]$/, '$1')) === 0;
  }

  steps(problem: ProbeProblem | undefined): ProbeStep[] {
    const { lookedUp, connected, securedAtMs, answeredAtMs } = this.#marks;
    const reached = answeredAtMs === undefined ? this.#stepReached() : undefined;
    let fromMs = this.#startedAtMs;
    const step = (name: ProbeStep['name'], atMs: number | undefined, detail: string, isNeeded = true): ProbeStep => {
      if (!isNeeded) return { name, state: 'skipped', ms: undefined, detail };
      if (atMs === undefined) {
        const failed = reached === name;
        const ms = failed ? performance.now() - fromMs : undefined;
        return { name, state: failed ? 'failed' : 'skipped', ms, detail: '' };
      }
      const ms = Math.max(0, atMs - fromMs);
      fromMs = atMs;
      return { name, state: 'passed', ms, detail };
    };
    const list = [
      step(
        'look-up',
        lookedUp?.atMs,
        this.#looksUp
          ? (lookedUp?.addresses.join(', ') ?? '')
          : this.#isProxied
            ? 'left to the proxy'
            : this.#socket === undefined
              ? 'an address already'
              : 'a socket of this machine',
        this.#looksUp,
      ),
      step('connect', connected?.atMs, connected?.address ?? ''),
      step('secure', securedAtMs, this.#isSecure ? 'the certificate is good' : 'http:// has none', this.#isSecure),
    ];
    const answer = step('ask', answeredAtMs, `${this.#path} answers ${this.#status}`);
    return [...list, answeredAtMs === undefined || problem === undefined ? answer : { ...answer, state: 'failed' }];
  }
}

function toQuestion({ family, offers, pathPrefix, options }: Upstream): Question {
  const { modelList } = family;
  if (modelList !== undefined) {
    return { path: pathPrefix + withOptions(modelList.path, options), isList: true, body: undefined };
  }
  const [offer] = offers.values();
  const path = (offer?.path ?? '/').replaceAll('{model}', 'model');
  return { path: pathPrefix + withOptions(path, options), isList: false, body: Buffer.from('{}') };
}

/** Whether the upstream has a credential; headers that all calls of the family have do not count. */
function hasKey({ headers, signer }: Credential, { family }: Upstream): boolean {
  const common = new Set(Object.keys(family.headers ?? {}));
  return signer !== undefined || headers.some((name, index) => index % 2 === 0 && !common.has(name));
}

function messageIn(parsed: unknown): string {
  const found = [at(parsed, 'error', 'message'), at(parsed, 'message'), at(parsed, 'error'), at(parsed, 'detail')];
  return found.find((text) => typeof text === 'string' && text !== '') ?? '';
}

function at(value: unknown, ...names: readonly string[]): string | undefined {
  let inner = value;
  for (const name of names) {
    if (typeof inner !== 'object' || inner === null) return undefined;
    inner = Reflect.get(inner, name);
  }
  return typeof inner === 'string' ? inner : undefined;
}

function firstCodeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return firstCodeOf(error.errors[0]);
  return codeOf(error) ?? '';
}

interface OwnProbeDeps extends Pick<ProbeDeps, 'proxyFor' | 'installation'> {
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** Creates tests that run in this process, with its proxies and its token requests. */
export function createOwnProbe({ proxyFor, clock, installation }: OwnProbeDeps): Probe & { close(): Promise<void> } {
  const smallPost = createSmallPost(proxyFor);
  const probe = createProbe({ proxyFor, signing: { nowMs: clock.nowMs, post: smallPost.post }, installation });
  return { ...probe, close: () => smallPost.close() };
}
