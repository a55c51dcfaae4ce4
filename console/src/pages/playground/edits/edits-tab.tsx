/** Edits: a text, an instruction, and every word that went or came. */

import './edits.css';
import { Stack, Textarea, TextInput, VisuallyHidden } from '@mantine/core';
import { useCallback } from 'react';
import { type Call, read, readList } from '../call.ts';
import { CallFacts } from '../call-facts.tsx';
import { CallFault } from '../call-fault.tsx';
import { CallSource } from '../call-source.tsx';
import { type Example, Examples } from '../examples.tsx';
import { ModelChoice } from '../model-choice.tsx';
import { countSet, MoreOptions, NumberOption, toNumbers } from '../more-options.tsx';
import { useOwnKey } from '../own-key.tsx';
import { CallForm, RunBar } from '../run-bar.tsx';
import { StaleNote } from '../stale-note.tsx';
import { NothingYet, TabFrame } from '../tab-frame.tsx';
import type { TabProps } from '../tab-props.ts';
import { type CallHandle, useCall } from '../use-call.ts';
import { type Put, useKept } from '../use-kept.ts';
import { DiffView } from './diff-view.tsx';

interface EditsForm {
  model: string;
  input: string;
  instruction: string;
  n: string;
  temperature: string;
  topP: string;
}

const examples: readonly Example<EditsForm>[] = [
  {
    title: 'Replace a word',
    values: {
      input:
        'The postern is the small gate of a castle. Through the small gate people came and went unseen, while the main gate was watched.',
      instruction: 'Replace "small gate" with "back door"',
    },
  },
  {
    title: 'Clean up a list',
    values: {
      input: ['pears', 'apples', 'plums', 'apples', 'cherries', 'pears'].join('\n'),
      instruction: 'Remove duplicate lines',
    },
  },
  {
    title: 'Title case',
    values: { input: 'the small gate in the wall', instruction: 'Capitalize each word' },
  },
];

const sampleForm: EditsForm = {
  model: '',
  input: '',
  instruction: '',
  n: '',
  temperature: '',
  topP: '',
  ...examples[0]?.values,
};

export default function EditsTab({ wantedModel }: TabProps) {
  const [form, put] = useKept<EditsForm>('edits', sampleForm);
  const key = useOwnKey();
  const handle = useCall();
  const call = toCall(form, key);
  const missing = whatIsMissing(form);
  return (
    <TabFrame
      answer={handle.answer}
      form={
        <CallForm onRun={() => void handle.run(call)} canRun={missing === undefined && !handle.isRunning}>
          <EditsFields form={form} put={put} wantedModel={wantedModel} />
          <RunBar label="Edit" isRunning={handle.isRunning} onStop={handle.stop} missing={missing} />
        </CallForm>
      }
      result={<EditsResult handle={handle} call={call} />}
      source={<CallSource operation="edits" call={call} answer={handle.answer} />}
    />
  );
}

function toCall({ model, input, instruction, n, temperature, topP }: EditsForm, key: string | undefined): Call {
  return {
    route: 'edits',
    model,
    body: { model, input, instruction, ...toNumbers({ n, temperature, top_p: topP }) },
    key,
  };
}

function whatIsMissing({ model, instruction }: EditsForm): string | undefined {
  if (model === '') return 'Choose a model first.';
  return instruction.trim() === '' ? 'Write an instruction first.' : undefined;
}

interface EditsFieldsProps {
  readonly form: EditsForm;
  readonly put: Put<EditsForm>;
  readonly wantedModel: string | undefined;
}

function EditsFields({ form, put, wantedModel }: EditsFieldsProps) {
  const setModel = useCallback((model: string) => put({ model }), [put]);
  return (
    <Stack gap="sm">
      <Examples examples={examples} onPick={put} />
      <ModelChoice operation="edits" value={form.model} onChange={setModel} wanted={wantedModel} />
      <Textarea
        label="Text"
        value={form.input}
        onChange={(event) => put({ input: event.currentTarget.value })}
        autosize
        minRows={5}
        maxRows={14}
      />
      <TextInput
        label="Instruction"
        value={form.instruction}
        onChange={(event) => put({ instruction: event.currentTarget.value })}
        autoComplete="off"
      />
      <MoreOptions set={countSet([form.n, form.temperature, form.topP])}>
        <NumberOption label="n" description="How many versions" value={form.n} onChange={(n) => put({ n })} min={1} />
        <NumberOption
          label="temperature"
          description="Higher: more varied"
          value={form.temperature}
          onChange={(temperature) => put({ temperature })}
          min={0}
          max={2}
          step={0.1}
        />
        <NumberOption label="top_p" value={form.topP} onChange={(topP) => put({ topP })} min={0} max={1} step={0.05} />
      </MoreOptions>
    </Stack>
  );
}

function EditsResult({
  handle: { answer, error, isRunning },
  call,
}: {
  readonly handle: CallHandle;
  readonly call: Call;
}) {
  const texts =
    answer?.ending === 'answered'
      ? readList(answer.json, 'choices').flatMap((choice) => {
          const text = read(choice, 'text');
          return typeof text === 'string' ? [text] : [];
        })
      : [];
  const before = String(answer?.call.body.input ?? '');
  return (
    <Stack gap="sm" aria-busy={isRunning}>
      {answer !== undefined && <CallFacts answer={answer} />}
      <CallFault answer={answer} error={error} />
      <StaleNote answer={answer} call={call} />
      <VisuallyHidden role="status">{texts.length === 0 ? '' : 'Edited.'}</VisuallyHidden>
      {texts.map((text, index) => (
        <DiffView
          // biome-ignore lint/suspicious/noArrayIndexKey: a version is told apart by its place
          key={index}
          before={before}
          after={text}
          title={texts.length === 1 ? 'The edit' : `Version ${index + 1}`}
        />
      ))}
      {answer === undefined && error === undefined && (
        <NothingYet icon="edit">The text comes back edited, with every word marked that went or came.</NothingYet>
      )}
    </Stack>
  );
}
