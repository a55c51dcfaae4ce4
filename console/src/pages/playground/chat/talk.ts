/** A chat conversation independent of the API: questions, answers and tool results. */

import { read } from '../call.ts';

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
  | { readonly kind: 'tools'; readonly answers: readonly ToolAnswer[] };

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
export const onlySet = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

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

/** Tools as people paste them, in the form of any of the wires; a sentence where they cannot be read. */
export function parseTools(text: string): readonly Tool[] | string {
  if (text.trim() === '') return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'This is not JSON yet.';
  }
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const tools = list.map(toTool);
  const broken = tools.indexOf(undefined);
  return broken === -1
    ? tools.filter((tool) => tool !== undefined)
    : `Tool ${broken + 1} has neither a name nor a type of its own.`;
}

function toTool(value: unknown): Tool | undefined {
  const source = read(value, 'function') ?? value;
  const [name, type] = [read(source, 'name'), read(value, 'type')];
  const isFunction = type === undefined || type === 'function' || type === 'custom';
  const hasSchema = read(value, 'input_schema') !== undefined;
  if (typeof type === 'string' && !isFunction && !hasSchema) return { hosted: value };
  if (typeof name !== 'string' || name === '') return undefined;
  const description = read(source, 'description');
  return {
    function: {
      name,
      description: typeof description === 'string' ? description : undefined,
      parameters: read(source, 'parameters') ?? read(source, 'input_schema'),
    },
  };
}

export const sampleTools = JSON.stringify(
  [
    {
      name: 'get_weather',
      description: 'Says how the weather is in a city.',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  ],
  null,
  2,
);
