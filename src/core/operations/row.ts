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
  /** Where clients ask for it, under the base path; `{model}` stands for the model's name. */
  readonly path: `/v1/${string}` | `/v1beta/${string}`;
  /** What a model serves or a key may ask, and what one request of it is called. */
  readonly words: { readonly all: string; readonly one: string };
  /** The lower, the sooner it is offered to somebody who sees the gateway for the first time. */
  readonly offered: number;
  readonly yields: 'text' | 'scores' | 'verdicts' | 'vectors' | 'counts' | 'images' | 'audio' | 'anything';
  /** Whether a call may be sent again after a byte of it left: where answers are the same each time, and cheap. */
  readonly replayable: boolean;
  /** On its routes a hidden model answers exactly as an unknown one does. */
  readonly visibleModelsOnly: boolean;
  /** The answer may come as a stream of events. */
  readonly mayStream: boolean;
  /** As JSON Schema calls what an answer is, in any of its shapes; or the kind of bytes that it is. */
  readonly answers: readonly ('object' | 'array' | 'audio' | 'text')[];
  /** Where what is counted stands, the first of them that is there, and how it is counted. */
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
  /** Of conversations: the names of fields that bring in what is no text, or is not in the body. */
  readonly beyondText?: readonly string[];
  /** Of conversations: the fields by which clients ask for what the upstream runs itself, such as a search, beside `tools`. */
  readonly hosted?: readonly string[];
  /** Of what is written: the names of the strings that hold it, in a whole answer and in the events of a stream. */
  readonly written?: { readonly whole: readonly string[]; readonly events: readonly string[] };
  /** Where counts stand that are not in the event itself: in an object of it, anew in each of the `chunks`, or, by Ollama's names, at the end of all; of Cohere's, in the `delta` of the last event, or in the `meta` of its `response`; of Google's newer ones, in the `interaction` of the last. */
  readonly countsIn?: 'message' | 'response' | 'chunks' | 'last line' | 'delta' | 'response meta' | 'interaction';
  /** The header of an answer that counts input tokens, where no body of it does; in lower case. */
  readonly countedInHeader?: string;
  /** Where calls of tools are told that the service ran itself: in its count, as elements of the output, or by what it looked up. Where it does not say, they have no bound. */
  readonly callsIn?: 'usage' | 'output' | 'grounding';
  /** The field by which one search is asked for, whatever the answer says of it. */
  readonly searchedBy?: string;
  /** The answer says beside its count at which tier it was served. */
  readonly reportsTier?: true;
  /** How what an upstream keeps is named, where it can be. */
  readonly objectNames?: ObjectNames;
  /** What it keeps of a request itself. */
  readonly records?: ObjectRecords;
  /** The field that bounds what is written, with a dot where it is in another; `max_tokens` where it does not say. */
  readonly mostBy?: string;
  /** By any of these, each is billed for what it mostly is; by nothing where it costs nothing. */
  readonly billedBy: readonly Unit[];
  /** Another operation, which whoever serves this one most likely serves too. */
  readonly companionOf?: string;
  /** Who serves that one, or may ask for it, does this as well, whether the configuration says so or not. */
  readonly isImplied?: true;
  /** Where it takes a form and nothing else: the part that holds a file. */
  readonly form?: string;
  /** Its paths are those that the operator has written: there is none to show, and no request that would fit all of them. */
  readonly isOperators?: true;
  /** Where it takes longer than the others. */
  readonly patience?: { readonly firstByteMs: number; readonly totalMs: number };
  /** What it is called in the model lists of others. */
  readonly listedAs?: {
    readonly capability?: 'moderation' | 'completion_chat';
    readonly endpoint?: string;
    readonly methods?: readonly string[];
  };
  /** Names that leave no doubt that a model is for this; of two operations the first in the list. */
  readonly namedLike?: RegExp;
  /** What shows best what it does, with the models that are built in; `brief` keeps the answer short on a screen. */
  readonly sample: { readonly body: Fields; readonly brief?: Fields };
  /** The smallest that any model can answer. */
  readonly trial: Fields;
  /** How OpenAI's own libraries call it, and what they show of the answer, where they know it. */
  readonly sdk?: { readonly call: string; readonly python: string; readonly node: string };
}

/** Where the IDs of what an upstream keeps stand in its answers: names with dots between, `*` for any element of a list. */
export interface ObjectRecords {
  readonly whole: Readonly<Record<string, StoredKind>>;
  /** In the data of each event of a stream. */
  readonly events: Readonly<Record<string, StoredKind>>;
  /** The field of the request that says `false` where nothing is to be stored. */
  readonly unless: string;
  /** What is made of it in the background is followed to its end. */
  readonly isFollowed?: true;
}

/** Objects that an upstream keeps for whoever knows their names, such as files and earlier answers. */
export interface ObjectNames {
  /** Of the body itself: whatever stands there that is not null. */
  readonly fields: readonly string[];
  /** Of any object in it: a text, a list of texts, or an object with an `id`. */
  readonly names: readonly string[];
  /** Whatever text stands at such a place (names with dots between, `*` for any element of a list), by the field that it is known by. */
  readonly texts?: Readonly<Record<string, string>>;
  /** Likewise where `gs:` begins it: the address of what lies in the storage of the operator's account. */
  readonly links?: Readonly<Record<string, string>>;
  /** The types of objects that are one, each with the field in which it may hold it itself. */
  readonly types?: Readonly<Record<string, string | undefined>>;
  /** By these fields, names and types clients name what was made for them; by the others nothing can be named. */
  readonly known?: Readonly<Record<string, StoredKind>>;
  /** The list whose elements have the IDs under which they are kept. */
  readonly items?: string;
  /** In these elements such a name tells what was used when they were made: it may be anything that is not somebody else's. */
  readonly reported?: readonly string[];
  /** Of any object in it: whatever object stands there. */
  readonly wholes?: readonly string[];
  /** What is said by a name of `names` lies with somebody else, where it looks like this. */
  readonly outside?: RegExp;
  /** What stands under these names is a tool's matter, or is read by nobody; `content.annotations`: of elements of such a list alone. */
  readonly except?: readonly string[];
}

/** Of a body, without its model. */
type Fields = Readonly<Record<string, unknown>>;

/** As most operations have it. */
const usual = {
  replayable: false,
  visibleModelsOnly: false,
  mayStream: false,
  answers: ['object'],
} as const satisfies Partial<OperationRow>;
type Usual = keyof typeof usual;

/** What is left out is as most operations have it. */
export function defineOperation(row: Omit<OperationRow, Usual> & Partial<Pick<OperationRow, Usual>>): OperationRow {
  return Object.freeze({ ...usual, ...row });
}
