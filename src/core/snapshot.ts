/** The whole configuration, compiled and frozen. It is swapped, never edited. */

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
  /** From the last request byte sent to the first response header byte. */
  readonly firstByteMs: number;
  /** Between later bytes. */
  readonly idleMs: number;
  readonly totalMs: number;
}

/** A key to an upstream's account, ready to send. Without a key for an upstream that takes none. */
export interface Credential {
  /** For logs and lists: `key` where there is one, else `key 1`, `key 2`, in the order of the file. Never a part of the key. */
  readonly id: string;
  /** Its share of the calls among the upstream's credentials; 0: never used. */
  readonly weight: number;
  /** The key and `upstreams[].headers`: names and values in turn, names in lower case. */
  readonly headers: readonly string[];
  /** The same for the family's chat, where that differs. */
  readonly chatHeaders?: readonly string[];
  /** For families that sign each call instead of sending the key. */
  readonly signer?: Signer;
  /** Stable for the key, so its state survives a reload. Does not reveal the key. */
  readonly fingerprint: string;
}

/** TLS settings of an upstream, where the platform's defaults do not suffice. PEM text. */
export interface UpstreamTls {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** The name in the certificate and in SNI. */
  readonly serverName: string | undefined;
}

export interface UpstreamLimits {
  /** Concurrent calls; and connections. The maximum of a learned limit. */
  readonly concurrency: number;
  /** Set where the limit is learned, down to this minimum. */
  readonly auto?: { readonly min: number } | undefined;
  /** Calls that may wait for a slot. */
  readonly queue: number;
  /** How long each interactive one may wait; bulk waits until its deadline. */
  readonly queueTimeoutMs: number;
  /** The minimum for bulk while interactive calls wait, as a fraction of 1. */
  readonly bulkShare: number;
}

/** Several addresses of one upstream, each with its own connections and health. */
export interface EndpointSettings {
  /** Looked up by the host's name, by its SRV records, or by name if that has private addresses only; or a list. */
  readonly from: 'dns' | 'srv' | 'private dns' | readonly string[];
  /** Preferred ranges of addresses; empty: none. */
  readonly zone: readonly string[];
}

/** An active health check: a GET, passed by any status below 300. */
export interface HealthCheck {
  /** Under the origin, query included, the base URL's path not. */
  readonly path: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

/** Which answers are searched for the upstream's credentials. */
export const screens = ['all', 'errors'] as const;
type Screen = (typeof screens)[number];

export interface UpstreamSettings {
  /** Reads its list of models at intervals, where its family has one. */
  readonly readsModelList?: boolean;
  /** The longest answer that is read to be translated. */
  readonly answerLimitBytes: number;
}

export interface Upstream extends UpstreamSettings {
  readonly id: string;
  readonly family: Family;
  /** `https://host:port`, or `unix:/path/to.sock:` for a socket of this machine; absent where the family needs no network. */
  readonly origin: string | undefined;
  /** The base URL's path without a trailing slash, such as `/v1`. */
  readonly pathPrefix: string;
  /** In the order of the file. */
  readonly credentials: readonly [Credential, ...Credential[]];
  /** The same for calls of bridges, where the family's chat takes another header. */
  readonly chatCredentials?: readonly [Credential, ...Credential[]];
  /** Client headers forwarded by name, in lower case, beyond the usual ones. */
  readonly forwardHeaders: readonly string[];
  /** Default values for clients that send none of them. */
  readonly standardHeaders?: Readonly<Record<string, string>>;
  /** The only headers of its answers that pass; undefined: all that may pass. */
  readonly responseHeaders: HeaderList | undefined;
  /** Its credentials, which must never reach a client; none shorter than 8 bytes. */
  readonly secrets: readonly string[];
  readonly screen: Screen;
  /** For people: credentials that are not searched for in successes, and why. */
  readonly unscreened: readonly string[];
  readonly timeouts: Readonly<Record<Operation, Timeouts>>;
  readonly limits: UpstreamLimits;
  /** How long a call may wait for its rate limits; undefined: not at all. */
  readonly paceMs?: number | undefined;
  /** Caps of all exchanges together. */
  readonly caps: Caps;
  readonly tls: UpstreamTls | undefined;
  /** The address policy of its connections; undefined: anywhere, as for upstreams of the file. */
  readonly addresses: AddressRule | undefined;
  readonly healthCheck: HealthCheck | undefined;
  /** Undefined: it has one address, or connections resolve the others. */
  readonly endpoints?: EndpointSettings | undefined;
  /** The path of its files; undefined where it has none. */
  readonly filesPath?: string | undefined;
  /** The path of its batches. */
  readonly batchesPath?: string | undefined;
  /** The family's own settings. */
  readonly options: Options;
  /** Its offers by `label operation` (one space between); see `offerKey`. */
  readonly offers: ReadonlyMap<string, Offer>;
}

export const offerKey = (label: Label, operation: Operation): string => `${label} ${operation}`;

export interface Target {
  readonly upstream: Upstream;
  /** The upstream's name for the model; `*` is replaced by what the model's pattern matched. */
  readonly model: string;
  /** Lower is tried first. */
  readonly priority: number;
  /** Its share of the calls among targets of the same priority; 0: never called. */
  readonly weight: number;
  /** Undefined where it is unknown. */
  readonly price: Price | undefined;
  /** The bridge by which it serves other operations over chat. */
  readonly bridge: string | undefined;
  /** The upstream's offers, or the bridge's. */
  readonly offers: ReadonlyMap<string, Offer>;
  readonly unsupported: Unsupported;
  readonly tokenIds: TokenIds;
  /** Undefined unless it reranks. */
  readonly scores?: TargetScores | undefined;
  /** The operator's limits of lists; undefined: the family's. */
  readonly limits?: ListLimits | undefined;
  /** Parameters added to a translated request where the client sent none. */
  readonly defaults: Readonly<Record<string, Json>>;
}

export const balances = ['weighted', 'least_busy', 'fastest'] as const;
export type Balance = (typeof balances)[number];

/** What may be sent again to another target after its first byte: replayable operations, or everything. */
export const retryScopes = ['safe', 'always'] as const;

export interface Retry {
  readonly scope: (typeof retryScopes)[number];
  /** Maximum of calls for one client request; calls without a sent byte do not count. */
  readonly attempts: number;
  /** Repetitions at a target before another is called. Undefined: once, for parts of lists, and where no other target is left. */
  readonly sameTarget: number | undefined;
}

/** When a second target is called beside an unanswered call: after a time, or the 95th percentile. */
export interface Hedge {
  /** In milliseconds. */
  readonly afterMs: number | 'p95';
}

/** Settings of the item cache. */
export interface CacheSettings {
  readonly ttlMs: number;
  readonly scope: CacheScope;
  /** Bytes in this process. */
  readonly maxBytes: number;
  /** Cached items count for limits as if requested. */
  readonly countsForLimits: boolean;
}

/** Another model that gets copies of a share of the requests, between 0 and 1. */
interface ShadowSettings {
  readonly model: string;
  readonly share: number;
}

/** Texts that are embedded at intervals. */
export interface CanarySettings {
  readonly texts: readonly string[];
  readonly everyMs: number;
}

/** How long a small list waits for others, and how many items are joined. */
export interface CoalesceSettings {
  readonly windowMs: number;
  readonly maxItems: number;
}

/** Who shares cached items: the keys of a project, or all that may use the model. */
export const cacheScopes = ['project', 'shared'] as const;
type CacheScope = (typeof cacheScopes)[number];

/** What a text is embedded for. */
export type TextRole = 'query' | 'document';
/** A prefix of each text, by its role. */
export type RolePrefixes = Readonly<Partial<Record<TextRole, string | undefined>>>;

export interface Model {
  /** The public ID; a pattern if it has one `*`. */
  readonly id: string;
  readonly aliases: readonly string[];
  /** Seconds since the epoch when it was stored; undefined for models of the file or a family. */
  readonly createdAtS?: number | undefined;
  readonly operations: readonly Operation[];
  readonly visible: boolean;
  readonly space: string | undefined;
  /** The scale of its scores; undefined where there is none, or it is unknown. */
  readonly scores?: ScoreScale | undefined;
  /** Context length in tokens, and the longest output; undefined where unset. */
  readonly context?: number | undefined;
  readonly maxOutput?: number | undefined;
  /** Maximum of hosted tool calls for one request. */
  readonly maxToolCalls?: number | undefined;
  /** The default width of its vectors; undefined where unset. */
  readonly dimensions?: number | undefined;
  /** Its vectors may be truncated: shorter ones are made here. */
  readonly matryoshka?: boolean;
  /** Where its upstreams know no roles. */
  readonly roles?: RolePrefixes | undefined;
  /** The longest recording it accepts. */
  readonly maxAudioMs?: number | undefined;
  /** vLLM's `messages` may replace `input` on the embeddings route. */
  readonly acceptsMessages: boolean;
  /** Requests usage in streams where the client does not. */
  readonly asksUsage: boolean;
  /** The service of its clients, where neither they nor their key determine it. */
  readonly shape?: RerankShape | undefined;
  readonly lane?: Lane | undefined;
  /** The latency target of interactive requests: 95 % get their first byte within this time. */
  readonly interactiveMs?: number | undefined;
  /** Overrides its upstreams' setting. */
  readonly paceMs?: number | undefined;
  readonly balance: Balance;
  readonly retry: Retry;
  readonly hedge: Hedge | undefined;
  /** For lists: the cache; equal items are requested once. */
  readonly cache?: CacheSettings | undefined;
  readonly dedupes?: boolean;
  /** For lists: joins small requests of several clients. */
  readonly coalesce?: CoalesceSettings | undefined;
  /** Compares it with another model; detects that it changed. */
  readonly shadow?: ShadowSettings | undefined;
  readonly canary?: CanarySettings | undefined;
  /** Caps of all exchanges together. */
  readonly caps: Caps;
  readonly targets: readonly [Target, ...Target[]];
}

/** A model as one request named it: `id` is its public ID (the name itself where a pattern matched). */
export interface ResolvedModel {
  readonly model: Model;
  readonly id: string;
  /** What the pattern's `*` matched; empty for an exact ID or alias. */
  readonly matched: string;
}

export interface ModelIndex {
  /** An exact ID or alias, else the longest matching pattern. Says nothing about visibility. */
  resolve(name: string): ResolvedModel | undefined;
  readonly all: readonly Model[];
  /** For each upstream, its names for models with a target there; for patterns, the name with the `*`. */
  readonly namesByUpstream: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface LedgerSettings {
  readonly directory: string;
  readonly durability: Durability;
  /** The longest that a request waits for a write of the journal; undefined for the default of its durability. */
  readonly journalWaitMs: number | undefined;
  /** How long rows are kept; sums stay. */
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
  /** The naming scheme of the fields. */
  readonly fields: (typeof logFields)[number];
  readonly access: {
    readonly errors: boolean;
    /** For requests that neither failed nor were slow. */
    readonly share: number;
    readonly slowMs: number | undefined;
  };
  /** Undefined: standard output. */
  readonly file: string | undefined;
}

/** What is exported of requests to a collector of traces and metrics. */
export interface OtelSettings {
  /** Undefined: from the environment, else the collector on this machine. */
  readonly endpoint?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** From 0 to 1; undefined: from the environment, else all. */
  readonly sample?: number | undefined;
  /** IDs of keys whose clients may request tracing beyond that share. */
  readonly keys: ReadonlySet<string>;
}

/** The admin listener. */
export interface ConsoleSettings {
  readonly host: string;
  readonly port: number;
  /** The port is configured: a conflict is a fault, rather than a warning. */
  readonly isPortGiven: boolean;
  /** The required token; undefined where only this machine reaches the listener. */
  readonly token: string | undefined;
  /** The console's public origin, such as `https://postern.example.com`. */
  readonly url: string | undefined;
  /** URL of a request's trace, with `{trace_id}` in place of its ID. */
  readonly traceUrl: string | undefined;
  /** Undefined: no identity provider. */
  readonly oidc: OidcSettings | undefined;
}

/** An identity provider, and how far it is trusted: `console.oidc` as in the file. */
export interface OidcSettings {
  readonly issuer: string;
  readonly client_id: string;
  readonly client_secret?: string | undefined;
  /** For people: the button's text. */
  readonly title: string;
  readonly scopes: readonly string[];
  /** For people without an invitation; undefined: no access. */
  readonly default_role?: Role | undefined;
  /** The claim that holds the groups. */
  readonly role_claim: string;
  /** Groups by role. */
  readonly roles: Readonly<Record<Role, readonly string[]>>;
  /** Accepts addresses that the provider does not report as verified. */
  readonly trust_email: boolean;
}

/** Alert rules, and who is notified. */
export interface AlertSettings {
  readonly webhooks: readonly AlertWebhook[];
  readonly smtp: AlertMail | undefined;
  /** The alert threshold of failed requests. */
  readonly errorShare: number;
  /** The alert threshold of the p95; undefined: none. */
  readonly p95Ms: number | undefined;
  readonly off: readonly AlertRule[];
}

/** Fields as JSON, or a text for Slack and compatible services. */
export const alertFormats = ['postern', 'slack'] as const;

export interface AlertWebhook {
  readonly url: string;
  /** The body is signed with it. */
  readonly secret?: string | undefined;
  readonly format: (typeof alertFormats)[number];
  /** The address policy; undefined: anywhere, as for webhooks of the file. */
  readonly addresses: AddressRule | undefined;
}

export interface AlertMail {
  /** `smtp:` or `smtps:`, with user and password where the server requires them. */
  readonly url: string;
  readonly from: string;
  readonly to: readonly string[];
}

/** A Unix socket for clients. */
export interface SocketSettings {
  readonly path: string;
  /** Its file permissions. */
  readonly mode: number;
  /** A name or a number; undefined: the creating user. */
  readonly owner?: string | number | undefined;
  readonly group?: string | number | undefined;
  /** Requests on it come from a trusted proxy. */
  readonly isTrusted: boolean;
}

export interface ServerSettings {
  readonly host: string;
  /** Undefined: on the socket only. */
  readonly port: number | undefined;
  readonly socket: SocketSettings | undefined;
  /** Worker processes. */
  readonly workers: number;
  readonly basePath: string;
  readonly bodyLimitBytes: number;
  /** Memory of all request bodies in flight, in this process; and of all translated answers. */
  readonly bodyMemoryBytes: number;
  /** For forms: the longest, and the disk space of all together, in this process. */
  readonly uploadLimitBytes: number;
  readonly uploadDiskBytes: number;
  /** As written, relative to the process's working directory. */
  readonly uploadDirectory: string;
  /** How long a request may wait for body memory. */
  readonly bodyWaitMs: number;
  readonly diagnostics: boolean;
  /** Errors show models that exist and that the key may not use. */
  readonly revealModels: boolean;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly maxConnections: number;
  /** Undefined: no limit. */
  readonly maxConnectionsPerAddress: number | undefined;
  readonly maxHeaderBytes: number;
  /** A client that closes its side after a request is answered; else it counts as gone. */
  readonly answersHalfClosed: boolean;
  readonly drain: { readonly delayMs: number; readonly deadlineMs: number };
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly trustedProxies: BlockList | undefined;
  readonly corsOrigins: readonly string[];
  /** Where the first key is shown; undefined: depends on whether the output is collected. */
  readonly firstKey: 'print' | 'file' | undefined;
  readonly logClientAddress: boolean;
  /** Above these, new requests are refused. */
  readonly shedding: { readonly loopDelayMs: number; readonly memoryBytes: number };
}

export interface Snapshot {
  /** Seconds since the epoch when it was compiled. */
  readonly createdAtS: number;
  readonly server: ServerSettings;
  /** The store's URL, such as `sqlite:data/postern.db`. */
  readonly store: string;
  /** The URL of Redis, where limits are counted for all nodes together. */
  readonly redis: string | undefined;
  /** Deadline of limit decisions in Redis. */
  readonly redisDeadlineMs: number;
  readonly ledger: LedgerSettings;
  readonly log: LogSettings;
  /** IDs with their own metrics. */
  readonly metrics: MetricSettings;
  /** Undefined without such a section. */
  readonly otel: OtelSettings | undefined;
  readonly console: ConsoleSettings;
  readonly alerts: AlertSettings;
  /** The address policy for upstreams of the store. */
  readonly upstreamAddresses: AddressRule;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly models: ModelIndex;
  readonly customRoutes: readonly CustomRoute[];
  /** The model to use where the client names none. */
  readonly defaultModels: Readonly<Partial<Record<Operation, string>>>;
  /** Keys that the file declares, by the SHA-256 of the secret in lower-case hex. */
  readonly keys: ReadonlyMap<string, KeyRecord>;
  /** By ID. */
  readonly projects: ReadonlyMap<string, Project>;
}
