/** The type of an operation: a row of data from which its docs, metrics and checks derive. */

import type { StoredKind } from '../store/stored-objects.ts';

type Unit =
  | 'input'
  | 'cached_input'
  | 'cache_write'
  | 'output'
  | 'search_unit'
  | 'request'
  | 'item'
  | 'image'
  | 'character'
  | 'minute';

export interface OperationRow {
  /** Clients call it under the base path; `{model}` stands for the model's name. */
  readonly path: `/v1/${string}` | `/v1beta/${string}`;
  /** Words for what a model serves or a key may use, and for one request. */
  readonly words: { readonly all: string; readonly one: string };
  /** The order in which newcomers see the operations, lowest first. */
  readonly offered: number;
  readonly yields: 'text' | 'scores' | 'verdicts' | 'vectors' | 'counts' | 'images' | 'audio' | 'anything';
  /** Whether a call may be sent again after its first byte was sent: where answers are deterministic and cheap. */
  readonly replayable: boolean;
  /** On its routes a hidden model answers exactly as an unknown one. */
  readonly visibleModelsOnly: boolean;
  /** The answer may come as a stream of events. */
  readonly mayStream: boolean;
  /** The JSON Schema types of its answers in all shapes; or the kind of their bytes. */
  readonly answers: readonly ('object' | 'array' | 'audio' | 'text')[];
  /** The fields that hold its items; the first one present counts. */
  readonly items: readonly string[];
  readonly counting:
    | 'prompts'
    | 'edit'
    | 'documents'
    | 'inputs'
    | 'inputs and images'
    | 'messages'
    | 'contents'
    | 'images'
    | 'speech'
    | 'recording'
    | 'anything';
  /** For chats: fields that add what is no text, or is not in the body. */
  readonly beyondText?: readonly string[];
  /** For chats: fields that request hosted tools, such as a search, beside `tools`. */
  readonly hosted?: readonly string[];
  /** The names of the strings that hold generated text, in a whole answer and in the events of a stream. */
  readonly written?: { readonly whole: readonly string[]; readonly events: readonly string[] };
  /**
   * Where the usage counts are, unless in the event itself: inside an object of it, anew in each of the `chunks`, or, by Ollama's names, in the last
   * line; for Cohere in the `delta` of the last event, or in the `meta` of its `response`; for Google's newer APIs in the `interaction` of the last.
   */
  readonly countsIn?: 'message' | 'response' | 'chunks' | 'last line' | 'delta' | 'response meta' | 'interaction';
  /** The response header with the input tokens, where the body has no usage; in lower case. */
  readonly countedInHeader?: string;
  /** Where calls of hosted tools are reported: in the usage, as output elements, or as search results. Undefined: their number has no bound. */
  readonly callsIn?: 'usage' | 'output' | 'grounding';
  /** The field that requests one search, which is billed whatever the answer reports. */
  readonly searchedBy?: string;
  /** The answer reports its service tier beside its usage. */
  readonly reportsTier?: true;
  /** How stored objects are named in a request, where it can name some. */
  readonly objectNames?: ObjectNames;
  /** What the upstream stores of a request. */
  readonly records?: ObjectRecords;
  /** The field that bounds the output, as a dotted name; `max_tokens` where undefined. */
  readonly mostBy?: string;
  /** A price in any of these units covers most of a request's cost; empty where it is free. */
  readonly billedBy: readonly Unit[];
  /** Another operation: a service with that one usually has this one too. */
  readonly companionOf?: string;
  /** Wherever the companion is served or permitted, this one is as well, without being configured. */
  readonly isImplied?: true;
  /** Where it takes only forms: the part that holds a file. */
  readonly form?: string;
  /** Its paths are the operator's custom ones: there is none to show, and no request that fits all of them. */
  readonly isOperators?: true;
  /** Longer default timeouts than the others. */
  readonly patience?: { readonly firstByteMs: number; readonly totalMs: number };
  /** Its name in other services' model lists. */
  readonly listedAs?: {
    readonly capability?: 'moderation' | 'completion_chat';
    readonly endpoint?: string;
    readonly methods?: readonly string[];
  };
  /** Model names that clearly belong to this operation; of two operations the first in the list. */
  readonly namedLike?: RegExp;
  /** A request that shows what it does, with the built-in models; `brief` keeps the answer short on a screen. */
  readonly sample: { readonly body: Fields; readonly brief?: Fields };
  /** The smallest request that any model can answer. */
  readonly trial: Fields;
  /** The call in OpenAI's libraries, and the part of the response to print; undefined if they lack it. */
  readonly sdk?: { readonly call: string; readonly python: string; readonly node: string };
}

/** Where answers hold IDs of stored objects: dotted names, `*` for any element of a list. */
export interface ObjectRecords {
  readonly whole: Readonly<Record<string, StoredKind>>;
  /** In the data of each event of a stream. */
  readonly events: Readonly<Record<string, StoredKind>>;
  /** The request field whose value `false` disables storing. */
  readonly unless: string;
  /** Background work is polled to its end. */
  readonly isFollowed?: true;
}

/** Names of stored objects in a request: files, earlier answers, which anyone who knows the name could use. */
export interface ObjectNames {
  /** Top-level fields: any value but null. */
  readonly fields: readonly string[];
  /** Names in any object of the body: a text, a list of texts, or an object with an `id`. */
  readonly names: readonly string[];
  /** Any text at such a position (dotted names, `*` for any element of a list), by the field's usual name. */
  readonly texts?: Readonly<Record<string, string>>;
  /** The same for texts that begin with `gs:`: addresses in the operator's cloud storage. */
  readonly links?: Readonly<Record<string, string>>;
  /** Types of objects that are names themselves, each with the field that may hold the content inline. */
  readonly types?: Readonly<Record<string, string | undefined>>;
  /** Names of objects that clients created; the other names can refer to nothing of a client's. */
  readonly known?: Readonly<Record<string, StoredKind>>;
  /** The list whose elements carry the IDs of stored objects. */
  readonly items?: string;
  /** Names in these elements report what was used earlier: valid unless they belong to another owner. */
  readonly reported?: readonly string[];
  /** Names in any object of the body: any object there counts as a stored one without an ID. */
  readonly wholes?: readonly string[];
  /** Values of `names` that match are outside the operator's account. */
  readonly outside?: RegExp;
  /** Names whose content is a tool's matter, or ignored; `content.annotations`: only in elements of such a list. */
  readonly except?: readonly string[];
}

/** A body without its model. */
type Fields = Readonly<Record<string, unknown>>;

const usual = {
  replayable: false,
  visibleModelsOnly: false,
  mayStream: false,
  answers: ['object'],
} as const satisfies Partial<OperationRow>;
type Usual = keyof typeof usual;

/** Fills absent fields with the usual values. */
export function defineOperation(row: Omit<OperationRow, Usual> & Partial<Pick<OperationRow, Usual>>): OperationRow {
  return Object.freeze({ ...usual, ...row });
}
