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
import type { ListLimits } from './list-limits.ts';
import type { Operation } from './operations/index.ts';
import type { Role } from './role.ts';
import type { ScoreScale, TargetScores } from './scores.ts';
import type { AlertRule } from './store/alerts.ts';
import type { RerankShape, TokenIds, Unsupported } from './translation.ts';

export interface Timeouts {
  readonly connectMs: number;
  /** From the last request byte sent to the first response header byte. */
  readonly firstByteMs: number;
  /** Between later bytes. */
  readonly idleMs: number;
  readonly totalMs: number;
}

/** A key to an upstream's account, ready to send. An upstream that takes none has one without a key. */
export interface Credential {
  /** For logs and lists: `key` where there is one, else `key 1`, `key 2`, in the order of the file. Never a part of the key. */
  readonly id: string;
  /** Its share of the calls beside its siblings; one with 0 is never used. */
  readonly weight: number;
  /** The key and `upstreams[].headers`: names and values in turn, names in lower case. */
  readonly headers: readonly string[];
  /** The same as the family's chat wants it, where that is another way. */
  readonly chatHeaders?: readonly string[];
  /** For families that sign each call instead of sending the key. */
  readonly signer?: Signer;
  /** The same as long as the key is: what is known of it outlives a reload. Not the key, and of no use to find it. */
  readonly fingerprint: string;
}

/** How a TLS connection to an upstream is made, where the platform's way is not enough. PEM text. */
export interface UpstreamTls {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** The name that the certificate must have, and that is asked for. */
  readonly serverName: string | undefined;
}

export interface UpstreamLimits {
  /** Calls at a time; and connections. The most where the limit is learned. */
  readonly concurrency: number;
  /** The limit is learned, and is no lower than this. */
  readonly auto?: { readonly min: number } | undefined;
  /** Calls that may wait for their turn. */
  readonly queue: number;
  /** How long each interactive one may wait; bulk waits until its deadline. */
  readonly queueTimeoutMs: number;
  /** What bulk gets at least while interactive calls wait, as a part of 1. */
  readonly bulkShare: number;
}

/** Several addresses of one upstream, each with its own connections and health. */
export interface EndpointSettings {
  /** Looked up by the host's name, by its SRV records, or by name where that leads to private addresses alone; or a list. */
  readonly from: 'dns' | 'srv' | 'private dns' | readonly string[];
  /** Ranges of addresses that are preferred; none where empty. */
  readonly zone: readonly string[];
}

/** Asking an upstream from time to time whether it is there: a GET, and any status below 300 is a yes. */
export interface HealthCheck {
  /** Under the origin, query included, the base URL's path not. */
  readonly path: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

/** Which answers are searched for the upstream's credentials. */
export const screens = ['all', 'errors'] as const;
type Screen = (typeof screens)[number];

/** What is set for an upstream, and is no more than that. */
export interface UpstreamSettings {
  /** Its list of models is read from time to time, where its family has one. */
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
  /** The same for the calls of bridges, where the family's chat wants them in another header. */
  readonly chatCredentials?: readonly [Credential, ...Credential[]];
  /** Client headers let through by name, in lower case, beyond the standing allow-list. */
  readonly forwardHeaders: readonly string[];
  /** What stands in for one of them where a client sends none. */
  readonly standardHeaders?: Readonly<Record<string, string>>;
  /** The only headers of its answers that pass; undefined where all do that may. */
  readonly responseHeaders: HeaderList | undefined;
  /** Its credentials, which must never reach a client; none shorter than 8 bytes. */
  readonly secrets: readonly string[];
  readonly screen: Screen;
  /** For people: the credentials that are not looked for in what succeeds, and why not. */
  readonly unscreened: readonly string[];
  readonly timeouts: Readonly<Record<Operation, Timeouts>>;
  readonly limits: UpstreamLimits;
  /** How long a call may wait for its rate limits; undefined: not at all. */
  readonly paceMs?: number | undefined;
  /** What all exchanges together may use up of it. */
  readonly caps: Caps;
  readonly tls: UpstreamTls | undefined;
  /** Where connections on its behalf may lead; anywhere where undefined, as for those that the file declares. */
  readonly addresses: AddressRule | undefined;
  readonly healthCheck: HealthCheck | undefined;
  /** Undefined: it has one address, or connections find the others. */
  readonly endpoints?: EndpointSettings | undefined;
  /** Where it keeps files, as the path of an offer; undefined where it keeps none. */
  readonly filesPath?: string | undefined;
  /** And where it works off batches of them. */
  readonly batchesPath?: string | undefined;
  /** The family's own settings. */
  readonly options: Options;
  /** What it serves, by `label operation` (one space between); see `offerKey`. */
  readonly offers: ReadonlyMap<string, Offer>;
}

export const offerKey = (label: Label, operation: Operation): string => `${label} ${operation}`;

export interface Target {
  readonly upstream: Upstream;
  /** The upstream's name for the model; `*` in it stands for what the model's pattern matched. */
  readonly model: string;
  /** Lower is tried first. */
  readonly priority: number;
  /** Its share of the calls among the targets of its priority; one with 0 is never called. */
  readonly weight: number;
  /** Undefined where it is not known. */
  readonly price: Price | undefined;
  /** Serves other operations by way of chat. */
  readonly bridge: string | undefined;
  /** What it serves: the upstream's offers, or those of the bridge. */
  readonly offers: ReadonlyMap<string, Offer>;
  readonly unsupported: Unsupported;
  readonly tokenIds: TokenIds;
  /** Undefined where it reranks nothing. */
  readonly scores?: TargetScores | undefined;
  /** What the operator says of how long lists may be; the family's own where undefined. */
  readonly limits?: ListLimits | undefined;
  /** Parameters that a translated request gains where the client sent none. */
  readonly defaults: Readonly<Record<string, Json>>;
}

/** How the calls are shared among targets of the same priority. */
export const balances = ['weighted', 'least_busy', 'fastest'] as const;
export type Balance = (typeof balances)[number];

/** What may be sent again, to another target, after a byte of it left: what its route calls replayable, or everything. */
export const retryScopes = ['safe', 'always'] as const;

export interface Retry {
  readonly scope: (typeof retryScopes)[number];
  /** Calls for one client request, at most; calls of which no byte left do not count. */
  readonly attempts: number;
  /**
   * How often a target is asked again for one request, before another target is. Undefined: once, where no other target is left, by parts of
   * lists and by models with one target.
   */
  readonly sameTarget?: number;
}

/** When a call that is not answered yet is sent to a second target: after a time, or after that of the slowest twentieth. */
export interface Hedge {
  /** In milliseconds. */
  readonly afterMs: number | 'p95';
}

/** What is remembered of items of lists. */
export interface CacheSettings {
  readonly ttlMs: number;
  readonly scope: CacheScope;
  /** Bytes in this process. */
  readonly maxBytes: number;
  /** What is remembered counts for limits as if it had been asked for. */
  readonly countsForLimits: boolean;
}

/** Another model that is asked a share of what one is asked, between 0 and 1. */
interface ShadowSettings {
  readonly model: string;
  readonly share: number;
}

/** Texts that are embedded from time to time. */
export interface CanarySettings {
  readonly texts: readonly string[];
  readonly everyMs: number;
}

/** How long a small list waits for others, and how many items go together. */
export interface CoalesceSettings {
  readonly windowMs: number;
  readonly maxItems: number;
}

/** Who shares it: the keys of a project, or all who may use the model. */
export const cacheScopes = ['project', 'shared'] as const;
type CacheScope = (typeof cacheScopes)[number];

/** What a text is embedded for. */
export type TextRole = 'query' | 'document';
/** What is put before each text, by its role. */
export type RolePrefixes = Readonly<Partial<Record<TextRole, string | undefined>>>;

export interface Model {
  /** The public ID; may hold one `*` and is a pattern then. */
  readonly id: string;
  readonly aliases: readonly string[];
  /** Seconds since the epoch when the store got it; undefined where the file has it, or it comes with a family. */
  readonly createdAtS?: number | undefined;
  readonly operations: readonly Operation[];
  readonly visible: boolean;
  readonly space: string | undefined;
  /** The scale of its scores; undefined where it has none, or nobody knows. */
  readonly scores?: ScoreScale | undefined;
  /** In tokens: what it can hold, and what it can write; undefined where nobody said. */
  readonly context?: number | undefined;
  readonly maxOutput?: number | undefined;
  /** How many calls of its own tools its service makes for one request. */
  readonly maxToolCalls?: number | undefined;
  /** How wide its vectors are unasked; undefined where nobody said. */
  readonly dimensions?: number | undefined;
  /** The first numbers of its vectors are vectors by themselves: shorter ones are made here. */
  readonly matryoshka?: boolean;
  /** Where its upstreams know no roles. */
  readonly roles?: RolePrefixes | undefined;
  /** The longest recording that it is given. */
  readonly maxAudioMs?: number | undefined;
  /** vLLM's `messages` may stand in for `input` on the embeddings route. */
  readonly acceptsMessages: boolean;
  /** Streams whose client does not have them counted are counted for the gateway. */
  readonly asksUsage: boolean;
  /** Which service the clients that ask for it were written for, where neither they nor their key say. */
  readonly shape?: RerankShape | undefined;
  readonly lane?: Lane | undefined;
  /** What nineteen of twenty interactive requests are promised to take no longer than, to the first byte. */
  readonly interactiveMs?: number | undefined;
  /** In place of what its upstreams say. */
  readonly paceMs?: number | undefined;
  readonly balance: Balance;
  readonly retry: Retry;
  readonly hedge: Hedge | undefined;
  /** Of lists: what is remembered; and that equal items are asked for once. */
  readonly cache?: CacheSettings | undefined;
  readonly dedupes?: boolean;
  /** And that small ones of several clients are asked for as one. */
  readonly coalesce?: CoalesceSettings | undefined;
  /** Whether it is what it was, and whether another agrees with it. */
  readonly shadow?: ShadowSettings | undefined;
  readonly canary?: CanarySettings | undefined;
  /** What all exchanges together may use up of it. */
  readonly caps: Caps;
  readonly targets: readonly [Target, ...Target[]];
}

/** A model as one request named it: `id` is its public ID (the name itself where a pattern matched). */
export interface ResolvedModel {
  readonly model: Model;
  readonly id: string;
  /** What the `*` of the pattern matched; empty for an exact ID or alias. */
  readonly matched: string;
}

export interface ModelIndex {
  /** An exact ID or alias, else the longest matching pattern. Says nothing about visibility. */
  resolve(name: string): ResolvedModel | undefined;
  readonly all: readonly Model[];
  /** By upstream, its names for the models that have a target there; of a pattern, the name with the `*`. */
  readonly namesByUpstream: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface LedgerSettings {
  /** Where the journal is. */
  readonly directory: string;
  readonly durability: Durability;
  /** How long rows are kept; sums stay. */
  readonly retentionMs: number;
  /** Names of JSON fields whose values are left out of what is captured. */
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
  /** Whose names the fields have. */
  readonly fields: (typeof logFields)[number];
  readonly access: {
    readonly errors: boolean;
    /** Of those that did not fail and were not slow. */
    readonly share: number;
    readonly slowMs: number | undefined;
  };
  /** Undefined: standard output. */
  readonly file: string | undefined;
}

/** What is exported of requests to a collector of traces and metrics. */
export interface OtelSettings {
  /** Undefined: what the environment says, else the collector on this machine. */
  readonly endpoint: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** From 0 to 1; undefined: what the environment says, else all. */
  readonly sample: number | undefined;
  /** IDs of keys whose clients may have a request traced beyond that share. */
  readonly keys: ReadonlySet<string>;
}

/** The admin listener. */
export interface ConsoleSettings {
  readonly host: string;
  readonly port: number;
  /** The operator wrote the port: where it is taken, that is a fault, and not only a pity. */
  readonly isPortGiven: boolean;
  /** What a caller must bring; undefined where only this machine reaches the listener. */
  readonly token: string | undefined;
  /** The origin by which people reach the console, such as `https://postern.example.com`. */
  readonly url: string | undefined;
  /** Of a request's trace, with `{trace_id}` in place of its ID. */
  readonly traceUrl: string | undefined;
  /** Undefined: nobody signs in by way of an identity provider. */
  readonly oidc: OidcSettings | undefined;
}

/** An identity provider, and what its word is worth. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** For people: what the button says. */
  readonly title: string;
  readonly scopes: readonly string[];
  /** Of those whom nobody invited; undefined: they do not get in. */
  readonly defaultRole: Role | undefined;
  /** The claim that holds the groups. */
  readonly roleClaim: string;
  /** The highest role first. */
  readonly roles: readonly { readonly group: string; readonly role: Role }[];
  /** Addresses count that the provider does not call verified. */
  readonly trustsEmail: boolean;
}

/** Alert rules, and who is notified. */
export interface AlertSettings {
  readonly webhooks: readonly AlertWebhook[];
  readonly smtp: AlertMail | undefined;
  /** More requests that fail are too many. */
  readonly errorShare: number;
  /** A longer p95 is too long; undefined where any may be. */
  readonly p95Ms: number | undefined;
  /** Rules that open none. */
  readonly off: readonly AlertRule[];
}

/** Fields as JSON, or a text as Slack and its like take it. */
export const alertFormats = ['postern', 'slack'] as const;

export interface AlertWebhook {
  readonly url: string;
  /** The body is signed with it. */
  readonly secret: string | undefined;
  readonly format: (typeof alertFormats)[number];
  /** Where the connection may lead; anywhere where undefined, as for those that the file declares. */
  readonly addresses: AddressRule | undefined;
}

export interface AlertMail {
  /** `smtp:` or `smtps:`, with user and password where the server wants them. */
  readonly url: string;
  readonly from: string;
  readonly to: readonly string[];
}

/** A socket of this machine that clients are served at. */
export interface SocketSettings {
  readonly path: string;
  /** Who may read and write it, as the file system counts. */
  readonly mode: number;
  /** A name or a number; undefined: the creating user. */
  readonly owner: string | number | undefined;
  readonly group: string | number | undefined;
  /** Requests on it come from a trusted proxy. */
  readonly isTrusted: boolean;
}

export interface ServerSettings {
  readonly host: string;
  /** Undefined: at the socket alone. */
  readonly port: number | undefined;
  readonly socket: SocketSettings | undefined;
  /** Processes that serve. */
  readonly workers: number;
  readonly basePath: string;
  readonly bodyLimitBytes: number;
  /** What all request bodies in flight may hold together, in this process; and all translated answers. */
  readonly bodyMemoryBytes: number;
  /** Of forms: the longest, and what they may take of the disk together, in this process. */
  readonly uploadLimitBytes: number;
  readonly uploadDiskBytes: number;
  /** As it is written, relative to where the process was started. */
  readonly uploadDirectory: string;
  /** How long a request may wait for room in it. */
  readonly bodyWaitMs: number;
  readonly diagnostics: boolean;
  /** Errors show models that exist and that the key may not use. */
  readonly revealModels: boolean;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly maxConnections: number;
  /** Undefined: as many as there may be. */
  readonly maxConnectionsPerAddress: number | undefined;
  readonly maxHeaderBytes: number;
  /** A client that ends its side of the connection behind a request is answered; else it has left. */
  readonly answersHalfClosed: boolean;
  readonly drain: { readonly delayMs: number; readonly deadlineMs: number };
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly trustedProxies: BlockList | undefined;
  readonly corsOrigins: readonly string[];
  /** Where the key of a first start goes; undefined: as its output is collected or not. */
  readonly firstKey: 'print' | 'file' | undefined;
  readonly logClientAddress: boolean;
  /** Beyond these, new requests are refused before the process suffers. */
  readonly shedding: { readonly loopDelayMs: number; readonly memoryBytes: number };
}

export interface Snapshot {
  /** Seconds since the epoch when it was compiled. */
  readonly createdAtS: number;
  readonly server: ServerSettings;
  /** Where the store is, such as `sqlite:data/postern.db`. */
  readonly store: string;
  /** The URL of Redis, where limits are counted for all nodes together. */
  readonly redis: string | undefined;
  /** How long a decision about limits waits for it. */
  readonly redisDeadlineMs: number;
  readonly ledger: LedgerSettings;
  readonly log: LogSettings;
  /** By ID: of whom metrics are kept. */
  readonly metrics: MetricSettings;
  /** Undefined where the file has no such section. */
  readonly otel: OtelSettings | undefined;
  readonly console: ConsoleSettings;
  readonly alerts: AlertSettings;
  /** Where what is written in the store may lead. */
  readonly upstreamAddresses: AddressRule;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly models: ModelIndex;
  /** Those of the operator's own. */
  readonly customRoutes: readonly CustomRoute[];
  /** The model to use where the client names none. */
  readonly defaultModels: Readonly<Partial<Record<Operation, string>>>;
  /** Keys that the file declares, by the SHA-256 of the secret in lower-case hex. */
  readonly keys: ReadonlyMap<string, KeyRecord>;
  /** By ID. */
  readonly projects: ReadonlyMap<string, Project>;
}
