/** Defines the whole configuration, compiled and frozen. A change makes a new snapshot; an existing one is never edited. */

import type { BlockList } from 'node:net';
import type { AddressRule } from '../lib/addresses/address-rule.ts';
import type { Json } from '../lib/json/json-text.ts';
import type { Durability } from './accounting/ledger-row.ts';
import type { Price } from './accounting/price.ts';
import type { HeaderList } from './answer-headers.ts';
import type { Caps } from './caps.ts';
import type { CustomRoute } from './custom-route.ts';
import type { Family, Offer, Options, Signer } from './family.ts';
import type { KeyRecord, Project } from './key.ts';
import type { Label } from './label.ts';
import type { Lane } from './lane.ts';
import type { Operation } from './operations/index.ts';
import type { Role } from './role.ts';
import type { ScoreScale, TargetScores } from './scores.ts';
import type { AlertRule } from './store/alerts.ts';
import type { ListLimits, RerankShape, TokenIds, Unsupported } from './translation.ts';

export interface Timeouts {
  readonly connectMs: number;
  /** Longest time from the last request byte sent to the first response header byte. */
  readonly firstByteMs: number;
  /** Longest pause between later bytes. */
  readonly idleMs: number;
  readonly totalMs: number;
}

/** A key to an upstream's account, ready to send; an upstream that takes no key has one credential without a key. */
export interface Credential {
  /** The credential's name in logs and lists: `key` if there is one, else `key 1`, `key 2`, in the order of the file. Never a part of the key. */
  readonly id: string;
  /** The credential's share of the calls among those of the upstream; 0: never used. */
  readonly weight: number;
  /** Header lines with the key and `upstreams[].headers`: names and values in turn, names in lower case. */
  readonly headers: readonly string[];
  /** Headers for the family's chat, where the key is sent in another form there. */
  readonly chatHeaders?: readonly string[];
  /** Signs each call, for families that do not send the key itself. */
  readonly signer?: Signer;
  /** Identifies the key without revealing it, so that the credential's state survives a reload. */
  readonly fingerprint: string;
}

/** TLS settings of an upstream, where the platform's defaults do not suffice. PEM text. */
export interface UpstreamTls {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** The name that the server's certificate must have, sent as SNI. */
  readonly serverName: string | undefined;
}

export interface UpstreamLimits {
  /** Maximum of concurrent calls and connections; the upper bound where the limit is learned. */
  readonly concurrency: number;
  /** Set where the limit is learned while serving, with its lower bound. */
  readonly auto?: { readonly min: number } | undefined;
  /** Maximum of calls that may wait for a slot. */
  readonly queue: number;
  /** How long each interactive call may wait for a slot; bulk calls wait until their deadline. */
  readonly queueTimeoutMs: number;
  /** The least share of calls that bulk gets while interactive calls wait, as a fraction of 1. */
  readonly bulkShare: number;
}

/** How the several addresses of one upstream are found; each has its own connections and health. */
export interface EndpointSettings {
  /** Where addresses come from: the host name, its SRV records, the host name if it has private addresses only; or a list. */
  readonly from: 'dns' | 'srv' | 'private dns' | readonly string[];
  /** Address ranges that are preferred; empty: none. */
  readonly zone: readonly string[];
}

/** An active health check: a GET that passes with any status below 300. */
export interface HealthCheck {
  /** The path and query under the origin, without the base URL's path. */
  readonly path: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

/** Which answers are searched for the upstream's credentials: all, or errors only. */
export const screens = ['all', 'errors'] as const;
type Screen = (typeof screens)[number];

export interface UpstreamSettings {
  /** Reads the upstream's list of models at intervals, where the family has one. */
  readonly readsModelList?: boolean;
  /** Size limit of an answer that is read to be translated. */
  readonly answerLimitBytes: number;
}

export interface Upstream extends UpstreamSettings {
  readonly id: string;
  readonly family: Family;
  /** `https://host:port`, or `unix:/path/to.sock:` for a Unix socket of this machine; absent where the family needs no network. */
  readonly origin: string | undefined;
  /** The base URL's path without a trailing slash, such as `/v1`. */
  readonly pathPrefix: string;
  readonly credentials: readonly [Credential, ...Credential[]];
  /** Credentials for calls through a bridge, where the family's chat takes another header. */
  readonly chatCredentials?: readonly [Credential, ...Credential[]];
  /** Client headers forwarded by name, in lower case, beyond the usual ones. */
  readonly forwardHeaders: readonly string[];
  /** Header values that are sent for clients that send none themselves. */
  readonly standardHeaders?: Readonly<Record<string, string>>;
  /** The only response headers that pass to clients; undefined: all that are not blocked. */
  readonly responseHeaders: HeaderList | undefined;
  /** Secrets that must never reach a client; none shorter than 8 bytes. */
  readonly secrets: readonly string[];
  readonly screen: Screen;
  /** Why successful answers are not searched for some of the credentials: one sentence for each, to show to operators. */
  readonly unscreened: readonly string[];
  readonly timeouts: Readonly<Record<Operation, Timeouts>>;
  readonly limits: UpstreamLimits;
  /** How long a call may wait for the upstream's rate limits; undefined: not at all. */
  readonly paceMs?: number | undefined;
  readonly caps: Caps;
  readonly tls: UpstreamTls | undefined;
  /** The addresses that connections may go to; undefined: any, as for upstreams of the file. */
  readonly addresses: AddressRule | undefined;
  readonly healthCheck: HealthCheck | undefined;
  /** How several addresses are found; undefined: the upstream has one, or each connection looks its host name up. */
  readonly endpoints?: EndpointSettings | undefined;
  readonly filesPath?: string | undefined;
  readonly batchesPath?: string | undefined;
  readonly options: Options;
  /** What the upstream serves, by `label operation` (one space between); see `offerKey`. */
  readonly offers: ReadonlyMap<string, Offer>;
}

export const offerKey = (label: Label, operation: Operation): string => `${label} ${operation}`;

export interface Target {
  readonly upstream: Upstream;
  /** The upstream's name for the model; `*` is replaced by the text that the model's pattern matched. */
  readonly model: string;
  /** Position in the order of targets: lower is tried first. */
  readonly priority: number;
  /** The target's share of the calls among targets of the same priority; 0: never called. */
  readonly weight: number;
  readonly price: Price | undefined;
  /** The bridge through which chat serves other operations at this target. */
  readonly bridge: string | undefined;
  /** The offers of the upstream, or those of the bridge. */
  readonly offers: ReadonlyMap<string, Offer>;
  readonly unsupported: Unsupported;
  readonly tokenIds: TokenIds;
  readonly scores?: TargetScores | undefined;
  /** The operator's limits for lists in one call; undefined: the family's apply. */
  readonly limits?: ListLimits | undefined;
  /** Parameters added to a translated request where the client sent none. */
  readonly defaults: Readonly<Record<string, Json>>;
}

export const balances = ['weighted', 'least_busy', 'fastest'] as const;
export type Balance = (typeof balances)[number];

/** What may be sent again to another target after its first byte was sent: only replayable operations (`safe`), or everything. */
export const retryScopes = ['safe', 'always'] as const;

export interface Retry {
  readonly scope: (typeof retryScopes)[number];
  /** Maximum of calls for one client request; calls without a sent byte do not count. */
  readonly attempts: number;
  /** How often a call is repeated at a target before another is tried. Undefined: once, for parts of lists and for the only target of a model. */
  readonly sameTarget: number | undefined;
}

/** When a second target is called while the first has not answered: after a time, or the 95th percentile. */
export interface Hedge {
  /** In milliseconds, or `p95`: the 95th percentile of the target's times to the first byte. */
  readonly afterMs: number | 'p95';
}

export interface CacheSettings {
  readonly ttlMs: number;
  readonly scope: CacheScope;
  /** Maximum size of the cache in this process, in bytes. */
  readonly maxBytes: number;
  /** Cached items count for limits as if they were requested. */
  readonly countsForLimits: boolean;
}

/** Settings of a shadow: another model that gets copies of a share (0 to 1) of the requests. */
interface ShadowSettings {
  readonly model: string;
  readonly share: number;
}

/** Settings of a canary: texts that are embedded at intervals to detect that a model changed. */
export interface CanarySettings {
  readonly texts: readonly string[];
  readonly everyMs: number;
}

/** How long a small list waits for lists of others, and how many items are joined in one call. */
export interface CoalesceSettings {
  readonly windowMs: number;
  readonly maxItems: number;
}

/** Which keys share cached items: those of one project, or all that may use the model. */
export const cacheScopes = ['project', 'shared'] as const;
type CacheScope = (typeof cacheScopes)[number];

/** The role of an embedded text: a query, or a document to be found. */
export type TextRole = 'query' | 'document';
export type RolePrefixes = Readonly<Partial<Record<TextRole, string | undefined>>>;

export interface Model {
  /** The public ID; a pattern if it has one `*`. */
  readonly id: string;
  readonly aliases: readonly string[];
  /** When the model was stored, in seconds since the epoch; undefined for models of the file or a family. */
  readonly createdAtS?: number | undefined;
  readonly operations: readonly Operation[];
  readonly visible: boolean;
  readonly space: string | undefined;
  /** The scale of the model's rerank scores; undefined where there is none, or it is unknown. */
  readonly scores?: ScoreScale | undefined;
  /** Context length in tokens, and the longest output; undefined where unset. */
  readonly context?: number | undefined;
  readonly maxOutput?: number | undefined;
  readonly maxToolCalls?: number | undefined;
  readonly dimensions?: number | undefined;
  /** The model's vectors may be truncated: where a client asks for shorter ones, the gateway makes them. */
  readonly matryoshka?: boolean;
  /** Prefixes for queries and documents, where the upstreams have no field for a text's role. */
  readonly roles?: RolePrefixes | undefined;
  readonly maxAudioMs?: number | undefined;
  /** Clients may send vLLM's `messages` in place of `input` to the embeddings route. */
  readonly acceptsMessages: boolean;
  /** Requests usage from the upstream in streams, where the client does not. */
  readonly asksUsage: boolean;
  /** The shape of answers, where neither the client nor its key determines it. */
  readonly shape?: RerankShape | undefined;
  readonly lane?: Lane | undefined;
  /** The latency target of interactive requests: 95 % get their first byte within this time. */
  readonly interactiveMs?: number | undefined;
  /** How long a call may wait for rate limits; overrides the upstreams' setting. */
  readonly paceMs?: number | undefined;
  readonly balance: Balance;
  readonly retry: Retry;
  readonly hedge: Hedge | undefined;
  /** For lists: settings of the cache; equal items are requested once. */
  readonly cache?: CacheSettings | undefined;
  readonly dedupes?: boolean;
  readonly coalesce?: CoalesceSettings | undefined;
  readonly shadow?: ShadowSettings | undefined;
  readonly canary?: CanarySettings | undefined;
  readonly caps: Caps;
  readonly targets: readonly [Target, ...Target[]];
}

/** A model as one request named it: `id` is its public ID (the name itself where a pattern matched). */
export interface ResolvedModel {
  readonly model: Model;
  readonly id: string;
  /** The text that the `*` of the model's pattern matched; empty for an exact ID or alias. */
  readonly matched: string;
}

export interface ModelIndex {
  /** Finds a model by an exact ID or alias, else by the longest matching pattern. Does not check whether a key may see it. */
  resolve(name: string): ResolvedModel | undefined;
  readonly all: readonly Model[];
  /** By upstream: its names for the models that have a target there; for patterns, the name with the `*`. */
  readonly namesByUpstream: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface LedgerSettings {
  readonly directory: string;
  readonly durability: Durability;
  /** The longest that a request waits for the journal to be written; undefined: the default of the durability. */
  readonly journalWaitMs: number | undefined;
  /** How long rows are kept; sums outlive them. */
  readonly retentionMs: number;
  /** JSON fields whose values are removed from captured bodies. */
  readonly hiddenFields: readonly string[];
}

export interface MetricSettings {
  readonly keys: ReadonlySet<string>;
  readonly projects: ReadonlySet<string>;
}

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export const logFormats = ['json', 'text'] as const;
export const logFields = ['postern', 'ecs', 'gcp'] as const;

export interface LogSettings {
  readonly level: (typeof logLevels)[number];
  readonly format: (typeof logFormats)[number];
  readonly fields: (typeof logFields)[number];
  readonly access: {
    readonly errors: boolean;
    /** Share of requests that are logged, among those that neither failed nor were slow. */
    readonly share: number;
    readonly slowMs: number | undefined;
  };
  /** Path of the log file; undefined: standard output. */
  readonly file: string | undefined;
}

export interface OtelSettings {
  /** The collector's URL; undefined: from the environment, else the collector on this machine. */
  readonly endpoint?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Share of requests that are traced, from 0 to 1; undefined: from the environment, else all. */
  readonly sample?: number | undefined;
  /** IDs of keys whose clients may request tracing of requests outside that share. */
  readonly keys: ReadonlySet<string>;
}

/** Settings of the admin listener, which serves the console and the admin API. */
export interface ConsoleSettings {
  readonly host: string;
  readonly port: number;
  /** The port was configured: if it is taken, that is a fault and not only a warning. */
  readonly isPortGiven: boolean;
  /** The token that requests need; undefined where only this machine reaches the listener. */
  readonly token: string | undefined;
  /** The console's public origin, such as `https://postern.example.com`. */
  readonly url: string | undefined;
  /** URL of a trace in the operator's tracing system, with `{trace_id}` in place of the ID. */
  readonly traceUrl: string | undefined;
  readonly oidc: OidcSettings | undefined;
}

/** An identity provider, and how far it is trusted: the fields of `console.oidc` in the configuration file. */
export interface OidcSettings {
  readonly issuer: string;
  readonly client_id: string;
  readonly client_secret?: string | undefined;
  /** For people: the text of the sign-in button. */
  readonly title: string;
  readonly scopes: readonly string[];
  /** Role of people without an invitation; undefined: they get no access. */
  readonly default_role?: Role | undefined;
  readonly role_claim: string;
  readonly roles: Readonly<Record<Role, readonly string[]>>;
  /** Accepts addresses that the provider does not report as verified. */
  readonly trust_email: boolean;
}

export interface AlertSettings {
  readonly webhooks: readonly AlertWebhook[];
  readonly smtp: AlertMail | undefined;
  readonly errorShare: number;
  /** The p95 in milliseconds that opens an alert; undefined: none does. */
  readonly p95Ms: number | undefined;
  readonly off: readonly AlertRule[];
}

/** Formats of a notification: fields as JSON, or a text for Slack and compatible services. */
export const alertFormats = ['postern', 'slack'] as const;

export interface AlertWebhook {
  readonly url: string;
  readonly secret?: string | undefined;
  readonly format: (typeof alertFormats)[number];
  /** The addresses that the webhook may go to; undefined: any, as for webhooks of the file. */
  readonly addresses: AddressRule | undefined;
}

export interface AlertMail {
  /** `smtp:` or `smtps:` URL, with user and password where the server requires them. */
  readonly url: string;
  readonly from: string;
  readonly to: readonly string[];
}

export interface SocketSettings {
  readonly path: string;
  readonly mode: number;
  /** Owner of the socket's file, by name or number; undefined: the user of the process. */
  readonly owner?: string | number | undefined;
  readonly group?: string | number | undefined;
  /** Requests on the socket count as from a trusted proxy. */
  readonly isTrusted: boolean;
}

export interface ServerSettings {
  readonly host: string;
  /** The TCP port for clients; undefined: only the socket. */
  readonly port: number | undefined;
  readonly socket: SocketSettings | undefined;
  readonly workers: number;
  readonly basePath: string;
  readonly bodyLimitBytes: number;
  /** Memory limit for all request bodies in flight in this process, and the same for all translated answers. */
  readonly bodyMemoryBytes: number;
  /** For forms in this process: the longest one, and the disk space of all together. */
  readonly uploadLimitBytes: number;
  readonly uploadDiskBytes: number;
  /** Directory as written, relative to the process's working directory. */
  readonly uploadDirectory: string;
  /** How long a request may wait for body memory. */
  readonly bodyWaitMs: number;
  readonly diagnostics: boolean;
  /** Errors show models that exist but that the key may not use. */
  readonly revealModels: boolean;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number | undefined;
  readonly maxHeaderBytes: number;
  /** A client that closes its sending side after a request still gets the answer; else it counts as gone. */
  readonly answersHalfClosed: boolean;
  readonly drain: { readonly delayMs: number; readonly deadlineMs: number };
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly trustedProxies: BlockList | undefined;
  readonly corsOrigins: readonly string[];
  /** Where the first key is shown; undefined: depends on whether the output goes to a log collector. */
  readonly firstKey: 'print' | 'file' | undefined;
  readonly logClientAddress: boolean;
  /** Above these values of event-loop delay and memory, new requests are refused. */
  readonly shedding: { readonly loopDelayMs: number; readonly memoryBytes: number };
}

export interface Snapshot {
  readonly createdAtS: number;
  readonly server: ServerSettings;
  readonly store: string;
  /** The URL of Redis, where limits are counted for all nodes together. */
  readonly redis: string | undefined;
  /** Deadline of limit decisions in Redis. */
  readonly redisDeadlineMs: number;
  readonly ledger: LedgerSettings;
  readonly log: LogSettings;
  /** IDs of keys and models that get metrics of their own. */
  readonly metrics: MetricSettings;
  readonly otel: OtelSettings | undefined;
  readonly console: ConsoleSettings;
  readonly alerts: AlertSettings;
  /** The addresses that upstreams of the store may connect to. */
  readonly upstreamAddresses: AddressRule;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly models: ModelIndex;
  readonly customRoutes: readonly CustomRoute[];
  /** By operation: the model that is used where the client names none. */
  readonly defaultModels: Readonly<Partial<Record<Operation, string>>>;
  /** Keys that the file declares, by the SHA-256 digest of the secret in lower-case hex. */
  readonly keys: ReadonlyMap<string, KeyRecord>;
  readonly projects: ReadonlyMap<string, Project>;
}
