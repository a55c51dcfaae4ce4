/** What the fields of the chat hold, and what of it goes over the wire. */

import type { Call } from '../call.ts';
import type { Example } from '../examples.tsx';
import { parseFurther } from '../further.ts';
import { toStopText } from '../sampling.tsx';
import type { Settings, Turn } from './talk.ts';
import { parseTools, sampleTools } from './tools.ts';
import { type WireName, wires } from './wires/index.ts';

export interface ChatForm {
  model: string;
  wire: string;
  other: string;
  otherWire: string;
  system: string;
  text: string;
  stream: boolean;
  tools: string;
  toolChoice: string;
  maxTokens: string;
  temperature: string;
  topP: string;
  stop: string;
  further: string;
}

export const chatExamples: readonly Example<ChatForm>[] = [
  { title: 'Ask something', values: { text: 'What is a postern? Answer in two sentences.', tools: '' } },
  {
    title: 'Give it a tool',
    values: { text: 'What should I wear in Lisbon today?', tools: sampleTools, toolChoice: 'auto' },
  },
];

export const sampleForm: ChatForm = {
  model: '',
  wire: '',
  other: '',
  otherWire: '',
  system: '',
  text: 'What is a postern? Answer in two sentences.',
  stream: true,
  tools: '',
  toolChoice: '',
  maxTokens: '',
  temperature: '',
  topP: '',
  stop: '',
  further: '',
};

/** A sentence where a field cannot be read. */
export function toSettings(form: ChatForm): Settings | string {
  const tools = parseTools(form.tools);
  if (typeof tools === 'string') return `Tools: ${tools}`;
  const further = parseFurther(form.further);
  if (typeof further === 'string') return `Further fields: ${further}`;
  return {
    system: form.system.trim(),
    stream: form.stream,
    tools,
    toolChoice: toolChoices.find((choice) => choice === form.toolChoice) ?? '',
    maxTokens: toNumber(form.maxTokens),
    temperature: toNumber(form.temperature),
    topP: toNumber(form.topP),
    stop: toStopText(form.stop),
    further,
  };
}

export const toolChoices = ['auto', 'required', 'none'] as const;

const toNumber = (text: string): number | undefined =>
  text === '' || !Number.isFinite(Number(text)) ? undefined : Number(text);

export interface Place {
  readonly model: string;
  readonly wire: WireName;
}

export function toCall(
  { model, wire }: Place,
  turns: readonly Turn[],
  settings: Settings,
  key: string | undefined,
): Call {
  return { route: wire, model, body: { model, ...wires[wire].toBody(turns, settings) }, key };
}
