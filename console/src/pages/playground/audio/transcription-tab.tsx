/** Transcription and translation: what is said in a recording, written down by one model, or by two to be compared. */

import './audio.css';
import { SegmentedControl, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { operationWords } from '../../../parts/words/operations.ts';
import type { Call, FormPart } from '../call.ts';
import { CallSource } from '../call-source.tsx';
import { ModelPair } from '../model-pair.tsx';
import { ChoiceOption, countSet, MoreOptions, NumberOption, toNumbers } from '../more-options.tsx';
import { useOwnKey } from '../own-key.tsx';
import { PairResult } from '../pair-result.tsx';
import { CallForm, RunBar } from '../run-bar.tsx';
import { NothingYet, TabFrame } from '../tab-frame.tsx';
import type { TabProps } from '../tab-props.ts';
import { type Put, useKept } from '../use-kept.ts';
import { usePair } from '../use-pair.ts';
import { HeardView } from './heard-view.tsx';
import { Recording } from './recording.tsx';

/** In the language that is spoken, or in English. */
const hearingOperations = ['transcriptions', 'translations'] as const;
type HearingOperation = (typeof hearingOperations)[number];

interface HearingForm {
  operation: string;
  model: string;
  other: string;
  language: string;
  prompt: string;
  format: string;
  temperature: string;
}

const sampleForm: HearingForm = {
  operation: 'transcriptions',
  model: '',
  other: '',
  language: '',
  prompt: '',
  format: '',
  temperature: '',
};

const mostBytes = 32 * 1024 * 1024;

const operationOf = (wanted: string | undefined): HearingOperation =>
  hearingOperations.find((one) => one === wanted) ?? 'transcriptions';

export default function TranscriptionTab({ wantedModel, wantedRoute }: TabProps) {
  const wanted = wantedRoute === 'translations' ? { operation: wantedRoute } : {};
  const [form, put] = useKept<HearingForm>('transcription', sampleForm, wanted);
  const [file, setFile] = useState<File>();
  const key = useOwnKey();
  const pair = usePair();
  const call = toCall(form, file, form.model, key);
  const missing = whatIsMissing(form, file);
  const run = (): void => pair.run(call, form.other === '' ? undefined : toCall(form, file, form.other, key));
  return (
    <TabFrame
      answer={pair.first.answer}
      isWide={form.other !== ''}
      form={
        <CallForm onRun={run} canRun={missing === undefined && !pair.isRunning}>
          <HearingFields form={form} put={put} file={file} onFile={setFile} wantedModel={wantedModel} />
          <RunBar label="Write down" isRunning={pair.isRunning} onStop={pair.stop} missing={missing} />
        </CallForm>
      }
      result={
        <PairResult
          pair={pair}
          call={call}
          nothingYet={<NothingYet icon="file">What is said in the recording stands here as text.</NothingYet>}
          render={(answer) => <HeardView answer={answer} />}
        />
      }
      source={<CallSource operation={operationOf(form.operation)} call={call} answer={pair.first.answer} />}
    />
  );
}

function toCall(form: HearingForm, file: File | undefined, model: string, key: string | undefined): Call {
  const route = operationOf(form.operation);
  const { language, prompt, format, temperature } = form;
  const fields: Readonly<Record<string, string>> = {
    model,
    ...(language === '' || route === 'translations' ? {} : { language }),
    ...(prompt === '' ? {} : { prompt }),
    ...(format === '' ? {} : { response_format: format }),
    ...(Object.keys(toNumbers({ temperature })).length === 0 ? {} : { temperature }),
  };
  const parts: FormPart[] = Object.entries(fields).map(([name, value]) => ({ name, value }));
  if (file !== undefined) parts.push({ name: 'file', value: file });
  return { route, model, body: { ...fields, ...(file === undefined ? {} : { file: file.name }) }, form: parts, key };
}

function whatIsMissing({ model }: HearingForm, file: File | undefined): string | undefined {
  if (model === '') return 'Choose a model first.';
  if (file === undefined) return 'Choose or record something first.';
  return file.size > mostBytes ? 'The recording is too large to be sent from here; see curl.' : undefined;
}

const formats = ['json', 'verbose_json', 'text', 'srt', 'vtt'];

interface HearingFieldsProps {
  readonly form: HearingForm;
  readonly put: Put<HearingForm>;
  readonly file: File | undefined;
  onFile(file: File | undefined): void;
  readonly wantedModel: string | undefined;
}

function HearingFields({ form, put, file, onFile, wantedModel }: HearingFieldsProps) {
  const operation = operationOf(form.operation);
  const { language, prompt, format, temperature } = form;
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label="What to do"
        data={hearingOperations.map((value) => ({ value, label: operationWords[value] }))}
        value={operation}
        // Models of one seldom serve the other.
        onChange={(next) => put({ operation: next, model: '', other: '' })}
        fullWidth
        size="xs"
      />
      <ModelPair operation={operation} form={form} put={put} wanted={wantedModel} />
      <Recording file={file} onChange={onFile} />
      <MoreOptions set={countSet([language, prompt, format, temperature])}>
        {operation === 'transcriptions' && (
          <TextInput
            label="language"
            description="Two letters, where it is known"
            placeholder="not sent"
            value={language}
            onChange={(event) => put({ language: event.currentTarget.value.trim() })}
            autoComplete="off"
          />
        )}
        <ChoiceOption
          label="response_format"
          description="verbose_json tells where each part begins"
          choices={formats}
          value={format}
          onChange={(next) => put({ format: next })}
        />
        <TextInput
          label="prompt"
          description="Names and words that occur in it"
          placeholder="not sent"
          value={prompt}
          onChange={(event) => put({ prompt: event.currentTarget.value })}
          autoComplete="off"
        />
        <NumberOption
          label="temperature"
          description="0: what is likeliest"
          value={temperature}
          onChange={(next) => put({ temperature: next })}
          min={0}
          max={1}
          step={0.1}
        />
      </MoreOptions>
    </Stack>
  );
}
