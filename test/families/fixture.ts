/** The type of a family's fixture: recorded pairs of requests and responses, and a service that answers like the real one. */

import type { Operation } from '../../src/core/operations/index.ts';

/** A call as the service got it. */
export interface WireCall {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  header(name: string): string | undefined;
  readonly text: string;
  /** The body as JSON.parse reads it; its schema decides how a service reads it. */
  readonly body: unknown;
}

export interface WireReply {
  /** Default: 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text as it is; anything else as JSON. */
  readonly body?: unknown;
  /** The data of server-sent events, in place of a body; text unchanged, anything else as JSON. */
  readonly events?: readonly unknown[];
}

/** One exact exchange: the client's request, the upstream request, its response, the client's response. */
export interface Pair {
  /** A sentence on what it shows. */
  readonly name: string;
  /** Of the client: `/v1/rerank`, or `/v1/engines/m/embeddings`. The model is `m` everywhere. */
  readonly route: string;
  /** Text as it is; anything else as JSON. */
  readonly ask: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** In the order in which the calls are made; none where nothing may reach the service. */
  readonly wire: readonly {
    readonly path: string;
    /** Compared byte for byte where it is text, else as JSON. */
    readonly body: unknown;
    /** Those that must be there; null for those that must not. */
    readonly headers?: Readonly<Record<string, string | null>>;
    readonly reply: WireReply;
  }[];
  readonly answer?: {
    /** Default: 200. */
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string | null>>;
    /**
     * Compared byte for byte where it is text, else as JSON; `{exchange}` in it stands for the ID of the exchange. Default: that of the
     * one reply, which passes.
     */
    readonly body?: unknown;
  };
  /** Further keys of the upstream or of the target, beside those of the fixture. */
  readonly upstream?: Readonly<Record<string, unknown>>;
  readonly target?: Readonly<Record<string, unknown>>;
}

export interface FamilyFixture {
  /** The ID of the family, and the name of the file. */
  readonly family: string;
  /** The upstream's name for the model. */
  readonly model: string;
  /** Where it has another one for an operation. */
  readonly models?: Readonly<Partial<Record<Operation, string>>>;
  /** Where it speaks OpenAI's chat, whose bytes pass. */
  readonly chat?: string;
  /** Further keys of the upstream's entry: options, another kind of key. */
  readonly upstream?: Readonly<Record<string, unknown>>;
  /** The path after the host in `base_url`; default: the family's own. */
  readonly basePath?: string;
  readonly pairs: readonly Pair[];
  /** Answers any call as the service does; its vectors and scores are those of `wire.ts`. */
  service(call: WireCall): WireReply;
  /** An error in the service's format, caused by the client or by the service. */
  error(status: number, message: string): WireReply;
  /** Token IDs reach the service as they are: everywhere, or where it completes a prompt. */
  readonly takesTokenIds?: true | 'completions';
  /** Its errors reach clients unchanged: all, or those of some operations. */
  readonly passesErrors?: true | readonly Operation[];
  /** Statuses that become another: from the service's to the client's. */
  readonly statuses?: Readonly<Record<number, number>>;
  /** `error.upstream` is left out for these. */
  readonly withheld?: readonly number[];
}

export function defineFixture(fixture: FamilyFixture): FamilyFixture {
  return fixture;
}

/** The body of the client's answer to a request for embeddings. */
export const embeddingsAnswer = (vectors: readonly unknown[], tokens: number, model: string) => ({
  object: 'list',
  data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
  model,
  usage: { prompt_tokens: tokens, total_tokens: tokens },
});
