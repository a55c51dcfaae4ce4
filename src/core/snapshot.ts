/** The whole configuration, compiled and frozen. It is swapped, never edited. */

import type { BlockList } from 'node:net';
import type { Family, Offer } from './family.ts';
import type { KeyRecord } from './key.ts';
import type { Label, Operation } from './operation.ts';

export interface Timeouts {
  readonly connectMs: number;
  /** From the last request byte sent to the first response header byte. */
  readonly firstByteMs: number;
  /** Between later bytes. */
  readonly idleMs: number;
  readonly totalMs: number;
}

export interface Upstream {
  readonly id: string;
  readonly family: Family;
  /** `https://host:port`; absent where the family needs no network. */
  readonly origin: string | undefined;
  /** The base URL's path without a trailing slash, such as `/v1`. */
  readonly pathPrefix: string;
  /** The credential and `upstreams[].headers`, ready to send: names and values in turn, names in lower case. */
  readonly fixedHeaders: readonly string[];
  /** Client headers let through by name, in lower case, beyond the standing allow-list. */
  readonly forwardHeaders: readonly string[];
  /** The spellings of its credentials that must never reach a client; none shorter than 8 bytes. */
  readonly secrets: readonly Buffer[];
  readonly timeouts: Readonly<Record<Operation, Timeouts>>;
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
  readonly weight: number;
}

export interface Model {
  /** The public ID; may hold one `*` and is a pattern then. */
  readonly id: string;
  readonly aliases: readonly string[];
  readonly operations: readonly Operation[];
  readonly visible: boolean;
  readonly space: string | undefined;
  /** vLLM's `messages` may stand in for `input` on the embeddings route. */
  readonly acceptsMessages: boolean;
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
}

export interface ServerSettings {
  readonly host: string;
  readonly port: number;
  readonly basePath: string;
  readonly bodyLimitBytes: number;
  readonly diagnostics: boolean;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly maxConnections: number;
  readonly maxHeaderBytes: number;
  readonly drain: { readonly delayMs: number; readonly deadlineMs: number };
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly trustedProxies: BlockList | undefined;
  readonly corsOrigins: readonly string[];
  readonly logClientAddress: boolean;
}

export interface Snapshot {
  /** Seconds since the epoch when it was compiled. */
  readonly createdAtS: number;
  readonly server: ServerSettings;
  /** Where the store is, such as `sqlite:data/postern.db`. */
  readonly store: string;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly models: ModelIndex;
  /** The model to use where the client names none. */
  readonly defaultModels: Readonly<Partial<Record<Operation, string>>>;
  /** Keys that the file declares, by the SHA-256 of the secret in lower-case hex. */
  readonly keys: ReadonlyMap<string, KeyRecord>;
}
