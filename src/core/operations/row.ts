/** Defines what is declared of an operation: a row of data from which docs, metrics and checks derive. */

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
  /** The canonical path that clients call, under the base path; `{model}` stands for the model's name. */
  readonly path: `/v1/${string}` | `/v1beta/${string}`;
  /** Words for people: for the operation in general (what a model serves, a key may use), and for one request. */
  readonly words: { readonly all: string; readonly one: string };
  /** Position among the operations as newcomers see them, lowest first. */
  readonly offered: number;
  readonly yields: 'text' | 'scores' | 'verdicts' | 'vectors' | 'counts' | 'images' | 'audio' | 'anything';
  /** A call may be sent again after its first byte was sent, as answers are deterministic and cheap. */
  readonly replayable: boolean;
  /** A model that is hidden from the key gets the same answer as an unknown one. */
  readonly visibleModelsOnly: boolean;
  readonly mayStream: boolean;
  /** What a response body may be, in any of the operation's formats: a JSON object or array, audio, or text. */
  readonly answers: readonly ('object' | 'array' | 'audio' | 'text')[];
  /** Request fields that may hold the list of items; the first one present counts. */
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
  /** For chats: request fields whose content is not text, or is not in the body. */
  readonly beyondText?: readonly string[];
  /** For chats: fields that request hosted tools, such as a search, beside `tools`. */
  readonly hosted?: readonly string[];
  /** Names of the strings that hold generated text, in a whole answer and in the events of a stream. */
  readonly written?: { readonly whole: readonly string[]; readonly events: readonly string[] };
  /**
   * Which object of an event holds a stream's usage counts; without it, the event itself does. `chunks`: each chunk has them anew; `last line`: by
   * Ollama's names; `delta` and `response meta`: in Cohere's last event; `interaction`: in the last event of Google's newer APIs.
   */
  readonly countsIn?: 'message' | 'response' | 'chunks' | 'last line' | 'delta' | 'response meta' | 'interaction';
  /** The response header (in lower case) with the input tokens, where the body has no usage. */
  readonly countedInHeader?: string;
  /** Where calls of hosted tools are reported: in the usage, as output elements, or as search results. Undefined: their number has no bound. */
  readonly callsIn?: 'usage' | 'output' | 'grounding';
  /** The request field that asks for one search, which is billed whatever the answer reports. */
  readonly searchedBy?: string;
  readonly reportsTier?: true;
  /** How a request can name stored objects; undefined where it cannot. */
  readonly objectNames?: ObjectNames;
  /** Which objects the upstream stores for a request, whose IDs are to be recorded. */
  readonly records?: ObjectRecords;
  /** The field that bounds the output, as a dotted name; `max_tokens` where undefined. */
  readonly mostBy?: string;
  /** A price in any of these units covers most of a request's cost; empty where it is free. */
  readonly billedBy: readonly Unit[];
  /** A related operation: a service that has that one usually has this one too. */
  readonly companionOf?: string;
  /** Wherever the operation of `companionOf` is served or permitted, this one is as well, without being configured. */
  readonly isImplied?: true;
  /** The part that holds a file, where requests are forms only. */
  readonly form?: string;
  /** The paths are the operator's custom ones: there is no path to show, and no request that fits all of them. */
  readonly isOperators?: true;
  /** Default timeouts, where they are longer than those of other operations. */
  readonly patience?: { readonly firstByteMs: number; readonly totalMs: number };
  /** The operation's name in the model lists of other services. */
  readonly listedAs?: {
    readonly capability?: 'moderation' | 'completion_chat';
    readonly endpoint?: string;
    readonly methods?: readonly string[];
  };
  /** Matches model names that clearly belong to this operation; of two matching operations the first in the list counts. */
  readonly namedLike?: RegExp;
  /** A request that shows what the operation does, with the built-in models; `brief` keeps the answer short on a screen. */
  readonly sample: { readonly body: Fields; readonly brief?: Fields };
  /** The smallest request that any model can answer. */
  readonly trial: Fields;
  /** The call in OpenAI's libraries, and the part of the response to print; undefined where these have no such call. */
  readonly sdk?: { readonly call: string; readonly python: string; readonly node: string };
}

/** Where answers hold IDs of stored objects, as dotted names; `*` stands for any element of a list. */
export interface ObjectRecords {
  readonly whole: Readonly<Record<string, StoredKind>>;
  /** Positions in the data of a stream's events, in the same notation. */
  readonly events: Readonly<Record<string, StoredKind>>;
  /** The request field whose value `false` disables storing. */
  readonly unless: string;
  /** The upstream works in the background, and is polled until the end. */
  readonly isFollowed?: true;
}

/** Where a request names stored objects (files, earlier answers), which anyone who knows the name could use. */
export interface ObjectNames {
  /** Top-level fields that name an object by any value but null. */
  readonly fields: readonly string[];
  /** Fields, in any object of the body, that name one by a text, a list of texts, or an object with an `id`. */
  readonly names: readonly string[];
  /** Further positions of object names: dotted paths (`*`: any element of a list), each with the field it counts as: `voice.id` with `voice`. */
  readonly texts?: Readonly<Record<string, string>>;
  /** Positions whose texts are names where they begin with `gs:`: addresses in the operator's cloud storage. */
  readonly links?: Readonly<Record<string, string>>;
  /** Values of `type` whose objects are names themselves, each with the field that may hold the content inline instead. */
  readonly types?: Readonly<Record<string, string | undefined>>;
  /** Fields that name objects created by clients, each with the kind of its object; other fields cannot name such objects. */
  readonly known?: Readonly<Record<string, StoredKind>>;
  /** The list of the request whose elements carry the IDs of stored objects. */
  readonly items?: string;
  /** Fields of the elements of `items` that report what was used earlier: valid unless the object belongs to another owner. */
  readonly reported?: readonly string[];
  /** Fields, in any object of the body, whose value counts as a stored object even if it is an object without an ID. */
  readonly wholes?: readonly string[];
  /** Matches values of `names` fields that are outside the operator's account. */
  readonly outside?: RegExp;
  /** Fields in which no object is looked for, as only a tool reads them, or nobody; `content.annotations`: `annotations` in a `content`. */
  readonly except?: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

const usual = {
  replayable: false,
  visibleModelsOnly: false,
  mayStream: false,
  answers: ['object'],
} as const satisfies Partial<OperationRow>;
type Usual = keyof typeof usual;

/** Makes a row of an operation; absent fields get the usual values. */
export function defineOperation(row: Omit<OperationRow, Usual> & Partial<Pick<OperationRow, Usual>>): OperationRow {
  return Object.freeze({ ...usual, ...row });
}
