/** Form fields for the settings of a chat: models, API, system prompt, tools and parameters. */

import { Select, Stack } from '@mantine/core';
import { useCallback } from 'react';
import type { Values } from '../../../parts/snippets/share.ts';
import { operationWords } from '../../../parts/words/operations.ts';
import {
  Examples,
  type Field,
  FieldView,
  faultIn,
  furtherFields,
  initialOf,
  Options,
  stop,
  stream,
  temperature,
  textOf,
  topP,
  toStopText,
} from '../fields.tsx';
import { ModelChoice } from '../model-choice.tsx';
import { parseFurther } from '../texts.ts';
import { parseTools, type Settings, sampleTools } from './talk.ts';
import { type WireName, wireNames } from './wires/index.ts';

const toolChoices = ['auto', 'required', 'none'] as const;
const sampleText = 'What is a postern? Answer in two sentences.';

const examples = [
  { title: 'Ask something', values: { text: sampleText, tools: '' } },
  {
    title: 'Give it a tool',
    values: { text: 'What should I wear in Lisbon today?', tools: sampleTools, toolChoice: 'auto' },
  },
];

const fields: readonly Field[] = [
  {
    name: 'system',
    kind: 'text',
    label: 'System prompt',
    description: 'Instructions before the conversation',
    rows: [2, 10],
  },
  {
    name: 'tools',
    kind: 'text',
    label: 'Tools',
    description: "A JSON list, each with name, description and parameters; any wire's form will do",
    placeholder: 'none',
    rows: [1, 12],
    faultOf: (text) => faultIn(parseTools(text)),
    codeClass: 'talk-code',
  },
  stream,
];

const options: readonly Field[] = [
  {
    name: 'maxTokens',
    kind: 'number',
    label: 'Most tokens',
    description: 'Where it stops at the latest',
    range: { min: 1 },
  },
  temperature,
  topP,
  stop,
  {
    name: 'toolChoice',
    kind: 'choice',
    label: 'tool_choice',
    description: 'Whether it calls a tool',
    choices: toolChoices,
  },
  furtherFields('{"reasoning_effort": "low"}'),
];

export const sampleForm: Values = {
  ...{ model: '', wire: '', other: '', otherWire: '', text: sampleText },
  ...initialOf([...fields, ...options]),
};

/** The settings from the form; an error text if a field cannot be read. */
export function toSettings(form: Values): Settings | string {
  const tools = parseTools(textOf(form, 'tools'));
  if (typeof tools === 'string') return `Tools: ${tools}`;
  const further = parseFurther(textOf(form, 'further'));
  if (typeof further === 'string') return `Further fields: ${further}`;
  return {
    system: textOf(form, 'system').trim(),
    stream: form.stream === true,
    tools,
    toolChoice: toolChoices.find((choice) => choice === form.toolChoice) ?? '',
    maxTokens: toNumber(form.maxTokens),
    temperature: toNumber(form.temperature),
    topP: toNumber(form.topP),
    stop: toStopText(textOf(form, 'stop')),
    further,
  };
}

const toNumber = (value: string | boolean | undefined): number | undefined =>
  value === '' || !Number.isFinite(Number(value)) ? undefined : Number(value);

interface ChatFieldsProps {
  readonly form: Values;
  put(change: Values): void;
  readonly wantedModel: string | undefined;
  /** Wire formats that all chosen models offer. */
  readonly open: readonly WireName[];
  readonly otherOpen: readonly WireName[];
  readonly wire: WireName;
  readonly otherWire: WireName;
}

export function ChatFields({ form, put, wantedModel, open, otherOpen, wire, otherWire }: ChatFieldsProps) {
  const setModel = useCallback((model: string) => put({ model }), [put]);
  const setOther = useCallback((other: string) => put({ other }), [put]);
  const other = textOf(form, 'other');
  return (
    <Stack gap="sm">
      <Examples examples={examples} onPick={put} />
      <ModelChoice operation={wireNames} value={textOf(form, 'model')} onChange={setModel} wanted={wantedModel} />
      <WireChoice label="API" open={open} value={wire} onChange={(next) => put({ wire: next })} />
      <ModelChoice operation={wireNames} label="Compare with" value={other} onChange={setOther} optional />
      {other !== '' && (
        <WireChoice
          label="Compare over"
          open={otherOpen}
          value={otherWire}
          onChange={(next) => put({ otherWire: next })}
        />
      )}
      {fields.map((field) => (
        <FieldView key={field.name} field={field} form={form} put={put} />
      ))}
      <Options fields={options} form={form} put={put} />
    </Stack>
  );
}

interface WireChoiceProps {
  readonly label: string;
  readonly open: readonly WireName[];
  readonly value: WireName;
  onChange(wire: WireName): void;
}

/** Chooses the wire format of a model; renders nothing if there is only one. */
function WireChoice({ label, open, value, onChange }: WireChoiceProps) {
  if (open.length < 2) return null;
  return (
    <Select
      label={label}
      data={open.map((name) => ({ value: name, label: operationWords[name] }))}
      value={value}
      onChange={(next) => onChange(open.find((name) => name === next) ?? value)}
      allowDeselect={false}
    />
  );
}
