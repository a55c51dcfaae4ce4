/** Types and functions of a chat conversation, independent of the API: questions, answers and tool results. */

import { read } from '../call.ts';

/** A tool call of the model, as far as it was received. */
export interface ToolCall {
  /** Number of the call's part in the answer; stream events refer to it. */
  readonly place: number;
  readonly id: string;
  readonly name: string;
  /** The input as the model wrote it; normally JSON. */
  readonly input: string;
}

/** A model's answer, as far as it was received. */
export interface Said {
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly ToolCall[];
  /** Why the answer ended, in the API's own word. */
  readonly reason: string | undefined;
  /** An error after the answer had begun. */
  readonly fault: string | undefined;
  /** The answer's content blocks as received, for APIs that require them to be sent back. */
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
  /** A data URL such as `data:image/png;base64,...`. */
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

/** What is sent with the turns of a conversation. */
export interface Settings {
  readonly system: string;
  readonly stream: boolean;
  readonly tools: readonly Tool[];
  /** `required`: the model must call a tool. */
  readonly toolChoice: '' | 'auto' | 'required' | 'none';
  readonly maxTokens: number | undefined;
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly stop: string;
  /** Further fields of the API, which override the others. */
  readonly further: Readonly<Record<string, unknown>>;
}

interface FunctionTool {
  readonly name: string;
  readonly description: string | undefined;
  readonly parameters: unknown;
}

/** A tool. Anything that is no function is run by the upstream, and is sent unchanged. */
export type Tool = { readonly function: FunctionTool } | { readonly hosted: unknown };

/** How a conversation is sent over one of the gateway's routes. */
export interface Wire {
  /** The body of a call, without the model. */
  toBody(turns: readonly Turn[], settings: Settings): Record<string, unknown>;
  add(before: Said, event: unknown): Said;
  readWhole(json: unknown): Said;
}

export const onlySet = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** Limit of tool calls: their numbers come from an upstream, and a huge one must not create a huge list. */
const mostCalls = 64;

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

/** Tools from pasted JSON, in the form of any of the APIs; an error text where they cannot be read. */
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
