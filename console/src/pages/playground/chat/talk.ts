/** A talk with a model, whatever the wire that it goes over: what was asked, what was said, and what tools answered. */

/** A call of a tool, as far as it has come. */
export interface ToolCall {
  /** Among the parts of the answer: pieces of a stream name it. */
  readonly place: number;
  readonly id: string;
  readonly name: string;
  /** As the model wrote it: JSON, where it kept to the rules. */
  readonly input: string;
}

/** What a model said, or has said so far. */
export interface Said {
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly ToolCall[];
  /** Why it ended, in the words of its wire. */
  readonly reason: string | undefined;
  /** What went wrong after the answer had begun. */
  readonly fault: string | undefined;
  /** As it came, for the wire that wants it back so. */
  readonly blocks: readonly unknown[];
}

export const nothingSaid: Said = {
  text: '',
  thinking: '',
  calls: [],
  reason: undefined,
  fault: undefined,
  blocks: [],
};

export const isEmpty = ({ text, thinking, calls }: Said): boolean =>
  text === '' && thinking === '' && calls.length === 0;

export interface Picture {
  readonly name: string;
  /** `data:image/png;base64,...`. */
  readonly url: string;
}

export interface Asked {
  readonly kind: 'asked';
  readonly text: string;
  readonly pictures: readonly Picture[];
}

export interface ToolAnswer {
  readonly id: string;
  readonly name: string;
  readonly output: string;
}

export type Turn =
  | Asked
  | { readonly kind: 'said'; readonly said: Said }
  | { readonly kind: 'told'; readonly answers: readonly ToolAnswer[] };

/** What is sent along with the turns. */
export interface Settings {
  readonly system: string;
  readonly stream: boolean;
  readonly tools: readonly Tool[];
  /** `required`: it has to call one. */
  readonly toolChoice: '' | 'auto' | 'required' | 'none';
  readonly maxTokens: number | undefined;
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly stop: string;
  /** Fields of the wire's own; they win. */
  readonly further: Readonly<Record<string, unknown>>;
}

interface FunctionTool {
  readonly name: string;
  readonly description: string | undefined;
  /** A JSON schema. */
  readonly parameters: unknown;
}

/** One that is no function is the upstream's own matter, and goes as it is. */
export type Tool = { readonly function: FunctionTool } | { readonly hosted: unknown };

/** How a talk goes over one of the gateway's routes. */
export interface Wire {
  /** Without the model. */
  toBody(turns: readonly Turn[], settings: Settings): Record<string, unknown>;
  /** An event of a stream. */
  add(before: Said, event: unknown): Said;
  readWhole(json: unknown): Said;
}

/** Only fields that are set. */
export function onlySet(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Calls are at places that an upstream wrote: no place makes a list without end. */
const mostCalls = 64;

/** Adds to the call at its place, or begins one there. */
export function addToCall(
  calls: readonly ToolCall[],
  place: number,
  more: { readonly id?: unknown; readonly name?: unknown; readonly input?: unknown },
): readonly ToolCall[] {
  const found = calls.find((call) => call.place === place);
  if (found === undefined && calls.length >= mostCalls) return calls;
  const before = found ?? { place, id: '', name: '', input: '' };
  const after = {
    place,
    id: textOr(more.id, before.id),
    name: textOr(more.name, before.name),
    input: before.input + textOr(more.input, ''),
  };
  return found === undefined ? [...calls, after] : calls.map((call) => (call === found ? after : call));
}

export const textOr = (value: unknown, other: string): string => (typeof value === 'string' ? value : other);
