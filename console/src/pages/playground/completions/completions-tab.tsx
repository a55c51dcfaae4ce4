/** Completions: where a text ends, how it goes on, word by word as it is written. */

import './completions.css';
import { Checkbox, Stack, Switch, Textarea } from '@mantine/core';
import { useCallback, useState } from 'react';
import type { Call } from '../call.ts';
import { CallSource } from '../call-source.tsx';
import { type Example, Examples } from '../examples.tsx';
import { ModelChoice } from '../model-choice.tsx';
import { countSet, MoreOptions, NumberOption, toNumbers } from '../more-options.tsx';
import { useOwnKey } from '../own-key.tsx';
import { CallForm, RunBar } from '../run-bar.tsx';
import { Sampling, StopText, toStopText } from '../sampling.tsx';
import { TabFrame } from '../tab-frame.tsx';
import type { TabProps } from '../tab-props.ts';
import { parseTexts, toShownText } from '../texts.ts';
import { useCall } from '../use-call.ts';
import { type Put, useKept } from '../use-kept.ts';
import { CompletionsResult } from './completions-result.tsx';
import { addPiece, nothingWritten, type Written } from './written.ts';

interface CompletionsForm {
  model: string;
  prompt: string;
  several: boolean;
  stream: boolean;
  echo: boolean;
  stop: string;
  maxTokens: string;
  temperature: string;
  topP: string;
  n: string;
  seed: string;
}

const examples: readonly Example<CompletionsForm>[] = [
  {
    title: 'Let it go on',
    values: {
      prompt:
        'The postern was the small gate at the back of the castle. While everyone watched the main gate, those who knew of it came and went unseen, and brought what the castle needed.',
      several: false,
      maxTokens: '200',
    },
  },
  {
    title: 'Several prompts at once',
    values: {
      prompt: ['Roses are red,', 'Once upon a time', 'The answer is'].join('\n\n'),
      several: true,
      maxTokens: '40',
    },
  },
];

const sampleForm: CompletionsForm = {
  model: '',
  prompt: '',
  several: false,
  stream: true,
  echo: false,
  stop: '',
  maxTokens: '',
  temperature: '',
  topP: '',
  n: '',
  seed: '',
  ...examples[0]?.values,
};

export default function CompletionsTab({ wantedModel }: TabProps) {
  const [form, put] = useKept<CompletionsForm>('completions', sampleForm);
  const [written, setWritten] = useState<Written>(nothingWritten);
  const [asked, setAsked] = useState<Call>();
  const key = useOwnKey();
  const handle = useCall();
  const call = toCall(form, key);
  const missing = whatIsMissing(form);

  const run = async (): Promise<void> => {
    setWritten(nothingWritten);
    setAsked(call);
    const answer = await handle.run(call, (event) => setWritten((before) => addPiece(before, event)));
    if (answer !== undefined && !answer.isStream) setWritten(addPiece(nothingWritten, answer.json));
  };
  return (
    <TabFrame
      answer={handle.answer}
      form={
        <CallForm onRun={() => void run()} canRun={missing === undefined && !handle.isRunning}>
          <CompletionsFields form={form} put={put} wantedModel={wantedModel} />
          <RunBar label="Complete" isRunning={handle.isRunning} onStop={handle.stop} missing={missing} />
        </CallForm>
      }
      result={<CompletionsResult handle={handle} written={written} asked={asked} call={call} />}
      source={<CallSource operation="completions" call={call} answer={handle.answer} />}
    />
  );
}

function toCall(form: CompletionsForm, key: string | undefined): Call {
  const { model, stream, echo, stop, several } = form;
  const { maxTokens, temperature, topP, n, seed } = form;
  const body = {
    model,
    prompt: several ? parseTexts(form.prompt).items.map(toShownText) : form.prompt,
    ...toNumbers({ max_tokens: maxTokens, temperature, top_p: topP, n, seed }),
    ...(stop === '' ? {} : { stop: toStopText(stop) }),
    ...(echo ? { echo } : {}),
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
  };
  return { route: 'completions', model, body, key };
}

function whatIsMissing({ model, prompt }: CompletionsForm): string | undefined {
  if (model === '') return 'Choose a model first.';
  return prompt.trim() === '' ? 'Write the beginning of a text first.' : undefined;
}

interface CompletionsFieldsProps {
  readonly form: CompletionsForm;
  readonly put: Put<CompletionsForm>;
  readonly wantedModel: string | undefined;
}

function CompletionsFields({ form, put, wantedModel }: CompletionsFieldsProps) {
  const setModel = useCallback((model: string) => put({ model }), [put]);
  const { stop, echo, temperature, topP, n, seed } = form;
  return (
    <Stack gap="sm">
      <Examples examples={examples} onPick={put} />
      <ModelChoice operation="completions" value={form.model} onChange={setModel} wanted={wantedModel} />
      <Textarea
        label={form.several ? 'Prompts' : 'Prompt'}
        {...(form.several
          ? { description: 'One a line; blocks with an empty line between them; or a JSON array.' }
          : {})}
        value={form.prompt}
        onChange={(event) => put({ prompt: event.currentTarget.value })}
        autosize
        minRows={6}
        maxRows={16}
      />
      <Switch
        label="Show it word by word (stream)"
        checked={form.stream}
        onChange={(event) => put({ stream: event.currentTarget.checked })}
      />
      <NumberOption
        label="max_tokens"
        description="Where it stops at the latest"
        value={form.maxTokens}
        onChange={(maxTokens) => put({ maxTokens })}
        min={0}
      />
      <MoreOptions set={countSet([stop, echo, form.several, temperature, topP, n, seed])}>
        <Sampling temperature={temperature} topP={topP} put={put} />
        <NumberOption
          label="n"
          description="How many versions"
          value={n}
          onChange={(next) => put({ n: next })}
          min={1}
        />
        <NumberOption label="seed" description="The same again" value={seed} onChange={(next) => put({ seed: next })} />
        <StopText stop={stop} put={put} />
        <Stack gap="xs" justify="flex-end">
          <Checkbox
            label="Several prompts"
            checked={form.several}
            onChange={(event) => put({ several: event.currentTarget.checked })}
          />
          <Checkbox
            label="echo: begin with the prompt"
            checked={echo}
            onChange={(event) => put({ echo: event.currentTarget.checked })}
          />
        </Stack>
      </MoreOptions>
    </Stack>
  );
}
