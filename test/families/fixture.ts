/** The type of a family's fixture: recorded pairs of requests and responses, and a service that answers like the real one. */

import type { Operation } from '../../src/core/operations/index.ts';

/** A call as the service got it. */
export interface WireCall {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  header(name: string): string | undefined;
  readonly text: string;
  /** The body as JSON.parse reads it: what a service makes of it is for its schema to say. */
  readonly body: unknown;
}

export interface WireReply {
  /** 200 where it does not say. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text as it is; anything else as JSON. */
  readonly body?: unknown;
  /** The data of server-sent events, in place of a body; text as it is, anything else as JSON. */
  readonly events?: readonly unknown[];
}

/** One exchange, exactly: what the client sends, what reaches the service, what it says, what the client gets. */
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
  readonly answer: {
    /** 200 where it does not say. */
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string | null>>;
    /** Compared byte for byte where it is text, else as JSON; `{exchange}` in it stands for the ID of the exchange. */
    readonly body: unknown;
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
  /** What follows the host in `base_url`; the family's own where it does not say. */
  readonly basePath?: string;
  readonly pairs: readonly Pair[];
  /** Answers any call as the service does; its vectors and scores are those of `wire.ts`. */
  service(call: WireCall): WireReply;
  /** An error as the service says it, where a client has done something wrong or it has itself. */
  error(status: number, message: string): WireReply;
  /** Token IDs reach the service as they are: everywhere, or where it completes a prompt. */
  readonly takesTokenIds?: true | 'completions';
  /** Its errors reach clients as it says them: all, or those of some operations. */
  readonly passesErrors?: true | readonly Operation[];
  /** Statuses that become another: from the service's to the client's. */
  readonly statuses?: Readonly<Record<number, number>>;
  /** `error.upstream` is left out for these. */
  readonly withheld?: readonly number[];
}

export function defineFixture(fixture: FamilyFixture): FamilyFixture {
  return fixture;
}
