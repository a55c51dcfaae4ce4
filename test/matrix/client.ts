/** A client of the compatibility matrix: an npm package, and its calls for each operation. */

import type { ErrorCode } from '../../src/core/errors.ts';

/** Where a client is to find the gateway. */
export interface Gateway {
  /** Without a path. */
  readonly url: string;
  /** The same over TLS, for clients that keep their keys for that. */
  readonly secure: { readonly url: string; readonly certificate: string };
  readonly key: string;
  readonly model: string;
}

interface Scored {
  readonly index: number;
  readonly score: number;
}

interface RerankWish {
  readonly query: string;
  readonly documents: readonly string[];
  readonly topN: number;
}

interface EditWish {
  readonly input: string;
  readonly instruction: string;
}

interface ToolCall {
  readonly name: string;
  readonly text: string;
}

/** Every client's tool is this one. */
export const lookUp = {
  name: 'look_up',
  description: 'Looks a text up.',
  parameters: {
    type: 'object',
    properties: { text: { type: 'string' } },
    required: ['text'],
    additionalProperties: false,
  },
};

type Vectors = readonly (readonly number[])[];

/** What is tried: the operations, embeddings on both routes and completions in both manners. */
export interface Tasks {
  embeddings(gateway: Gateway, texts: readonly string[]): Promise<Vectors>;
  engines(gateway: Gateway, texts: readonly string[]): Promise<Vectors>;
  rerank(gateway: Gateway, wish: RerankWish): Promise<readonly Scored[]>;
  /** Of each text whether it is flagged. */
  moderations(gateway: Gateway, texts: readonly string[]): Promise<readonly boolean[]>;
  completions(gateway: Gateway, prompt: string): Promise<string>;
  /** The same, streamed: the parts as they come. */
  streams(gateway: Gateway, prompt: string): AsyncIterable<string>;
  edits(gateway: Gateway, wish: EditWish): Promise<string>;
  chat(gateway: Gateway, prompt: string): Promise<string>;
  chatStreams(gateway: Gateway, prompt: string): AsyncIterable<string>;
  /** A conversation with one tool, `look_up` of a `text`: the call that is made of it. */
  tools(gateway: Gateway, prompt: string): Promise<ToolCall>;
  responses(gateway: Gateway, prompt: string): Promise<string>;
  responseStreams(gateway: Gateway, prompt: string): AsyncIterable<string>;
  messages(gateway: Gateway, prompt: string): Promise<string>;
  messageStreams(gateway: Gateway, prompt: string): AsyncIterable<string>;
  /** Contents in, candidates out, as Google has it. */
  generate(gateway: Gateway, prompt: string): Promise<string>;
  generateStreams(gateway: Gateway, prompt: string): AsyncIterable<string>;
  /** The picture, in base64. */
  images(gateway: Gateway, prompt: string): Promise<string>;
  /** The sound, as text. */
  speech(gateway: Gateway, input: string): Promise<string>;
  transcriptions(gateway: Gateway, sound: string): Promise<string>;
}
export type Task = keyof Tasks;

interface Way<T extends Task> {
  /** The client's own call, as it is written. */
  readonly call: string;
  readonly run: Tasks[T];
}

/** A call that one would expect to work, and that cannot reach what it is for. */
interface DeadEnd {
  readonly call: string;
  /** Where it goes, and what Postern answers; both are checked. */
  readonly path: string;
  readonly code: ErrorCode;
  /** A sentence without its full stop: what is the matter, and what to take instead. */
  readonly why: string;
  run(gateway: Gateway): Promise<unknown>;
}

export interface Client {
  /** The package whose version is shown. */
  readonly package: string;
  /** Further packages that it takes. */
  readonly beside?: readonly string[];
  /** How it is led to Postern, as code. */
  readonly setUp: string;
  /** What its users have to know. */
  readonly remark?: string;
  readonly ways: { readonly [T in Task]?: Way<T> };
  /** What it reads no answer without, though OpenAI's has none: a sentence without its full stop. */
  readonly wants?: { readonly [T in Task]?: string };
  readonly deadEnds?: readonly DeadEnd[];
}

/** Whose tables stand together. */
export const languages = ['Node', 'Python', 'Go'] as const;
export type Language = (typeof languages)[number];

export interface KnownClient extends Client {
  readonly language: Language;
  /** The models that it finds at a gateway; undefined where that is not tried. */
  readonly lists?: (gateway: Gateway) => Promise<readonly string[]>;
  /** By package, its own first. */
  readonly versions: Readonly<Record<string, string>>;
}

export function defineClient(client: Client): Client {
  return client;
}
