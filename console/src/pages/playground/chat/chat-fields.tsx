/** What goes along with every question: models, wires, the system prompt, tools and parameters. */

import { Select, Stack, Switch, Textarea } from '@mantine/core';
import { useCallback } from 'react';
import { operationWords } from '../../../parts/words/operations.ts';
import { Examples } from '../examples.tsx';
import { FurtherFields } from '../further-fields.tsx';
import { ModelChoice } from '../model-choice.tsx';
import { ChoiceOption, countSet, MoreOptions, NumberOption } from '../more-options.tsx';
import { Sampling, StopText } from '../sampling.tsx';
import type { Put } from '../use-kept.ts';
import { type ChatForm, chatExamples, toolChoices } from './form.ts';
import { parseTools } from './tools.ts';
import { type WireName, wireNames } from './wires/index.ts';

interface ChatFieldsProps {
  readonly form: ChatForm;
  readonly put: Put<ChatForm>;
  readonly wantedModel: string | undefined;
  /** Those that each of the models offers. */
  readonly open: readonly WireName[];
  readonly otherOpen: readonly WireName[];
  readonly wire: WireName;
  readonly otherWire: WireName;
}

export function ChatFields({ form, put, wantedModel, open, otherOpen, wire, otherWire }: ChatFieldsProps) {
  const setModel = useCallback((model: string) => put({ model }), [put]);
  const setOther = useCallback((other: string) => put({ other }), [put]);
  const { maxTokens, temperature, topP, stop, further, toolChoice } = form;
  return (
    <Stack gap="sm">
      <Examples examples={chatExamples} onPick={put} />
      <ModelChoice operation={wireNames} value={form.model} onChange={setModel} wanted={wantedModel} />
      <WireChoice label="Over" open={open} value={wire} onChange={(next) => put({ wire: next })} />
      <ModelChoice operation={wireNames} label="Compare with" value={form.other} onChange={setOther} optional />
      {form.other !== '' && (
        <WireChoice
          label="Compare over"
          open={otherOpen}
          value={otherWire}
          onChange={(next) => put({ otherWire: next })}
        />
      )}
      <Textarea
        label="System prompt"
        description="What the model is told before all else"
        value={form.system}
        onChange={(event) => put({ system: event.currentTarget.value })}
        autosize
        minRows={2}
        maxRows={10}
      />
      <Tools form={form} put={put} />
      <Switch
        label="Show it word by word (stream)"
        checked={form.stream}
        onChange={(event) => put({ stream: event.currentTarget.checked })}
      />
      <MoreOptions set={countSet([maxTokens, temperature, topP, stop, further, toolChoice])}>
        <NumberOption
          label="Most tokens"
          description="Where it stops at the latest"
          value={maxTokens}
          onChange={(next) => put({ maxTokens: next })}
          min={1}
        />
        <Sampling temperature={temperature} topP={topP} put={put} />
        <StopText stop={stop} put={put} />
        <ChoiceOption
          label="tool_choice"
          description="Whether it calls a tool"
          choices={toolChoices}
          value={toolChoice}
          onChange={(next) => put({ toolChoice: next })}
        />
        <FurtherFields
          example='{"reasoning_effort": "low"}'
          value={further}
          onChange={(next) => put({ further: next })}
        />
      </MoreOptions>
    </Stack>
  );
}

interface WireChoiceProps {
  readonly label: string;
  readonly open: readonly WireName[];
  readonly value: WireName;
  onChange(wire: WireName): void;
}

/** Nothing to choose where the model has one of them. */
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

function Tools({ form, put }: Pick<ChatFieldsProps, 'form' | 'put'>) {
  return (
    <Textarea
      label="Tools"
      description="A JSON list, each with name, description and parameters; any wire's form will do"
      placeholder="none"
      value={form.tools}
      onChange={(event) => put({ tools: event.currentTarget.value })}
      error={faultOf(parseTools(form.tools))}
      autosize
      minRows={1}
      maxRows={12}
      spellCheck={false}
      classNames={{ input: 'talk-code' }}
    />
  );
}

const faultOf = (parsed: unknown): string | undefined => (typeof parsed === 'string' ? parsed : undefined);
