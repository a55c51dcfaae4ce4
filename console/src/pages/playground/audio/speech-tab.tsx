/** Speech: a text, read aloud by one model, or by two to be compared. */

import './audio.css';
import { Autocomplete, Stack, Textarea } from '@mantine/core';
import type { Answer, Call } from '../call.ts';
import { CallSource } from '../call-source.tsx';
import { type Example, Examples } from '../examples.tsx';
import { parseFurther } from '../further.ts';
import { FurtherFields } from '../further-fields.tsx';
import { ModelPair } from '../model-pair.tsx';
import { ChoiceOption, countSet, MoreOptions, NumberOption, toNumbers } from '../more-options.tsx';
import { useOwnKey } from '../own-key.tsx';
import { PairResult } from '../pair-result.tsx';
import { CallForm, RunBar } from '../run-bar.tsx';
import { NothingYet, TabFrame } from '../tab-frame.tsx';
import type { TabProps } from '../tab-props.ts';
import { type Put, useKept } from '../use-kept.ts';
import { usePair } from '../use-pair.ts';
import { Player } from './player.tsx';

interface SpeechForm {
  model: string;
  other: string;
  input: string;
  voice: string;
  format: string;
  speed: string;
  instructions: string;
  further: string;
}

const sampleForm: SpeechForm = {
  model: '',
  other: '',
  input: 'The postern is the small gate at the back of the castle.',
  voice: 'alloy',
  format: '',
  speed: '',
  instructions: '',
  further: '',
};

const examples: readonly Example<SpeechForm>[] = [
  { title: 'Read a sentence', values: { input: sampleForm.input, instructions: '' } },
  {
    title: 'Read it in a manner',
    values: { input: 'Who goes there? Say the word, or stay outside.', instructions: 'Like a tired guard at night.' },
  },
];

export default function SpeechTab({ wantedModel }: TabProps) {
  const [form, put] = useKept<SpeechForm>('speech', sampleForm);
  const key = useOwnKey();
  const pair = usePair();
  const call = toCall(form, form.model, key);
  const missing = whatIsMissing(form);
  const run = (): void => pair.run(call, form.other === '' ? undefined : toCall(form, form.other, key));
  return (
    <TabFrame
      answer={pair.first.answer}
      isWide={form.other !== ''}
      form={
        <CallForm onRun={run} canRun={missing === undefined && !pair.isRunning}>
          <SpeechFields form={form} put={put} wantedModel={wantedModel} />
          <RunBar label="Read aloud" isRunning={pair.isRunning} onStop={pair.stop} missing={missing} />
        </CallForm>
      }
      result={
        <PairResult
          pair={pair}
          call={call}
          nothingYet={<NothingYet icon="play">What is read stands here, to be heard and saved.</NothingYet>}
          render={(answer) => <Spoken answer={answer} />}
        />
      }
      source={<CallSource operation="speech" call={call} answer={pair.first.answer} />}
    />
  );
}

function Spoken({ answer: { sound, call } }: { readonly answer: Answer }) {
  if (sound === undefined) return 'The answer is no sound; it stands below.';
  return <Player sound={sound} label={`What ${call.model} read`} name={`speech.${toEnding(sound)}`} />;
}

const toEnding = ({ type }: Blob): string => type.slice('audio/'.length).replace(/^x-/, '').replace('mpeg', 'mp3');

function toCall(form: SpeechForm, model: string, key: string | undefined): Call {
  const { input, voice, format, instructions } = form;
  const further = parseFurther(form.further);
  const body = {
    model,
    input,
    voice,
    ...toNumbers({ speed: form.speed }),
    ...(format === '' ? {} : { response_format: format }),
    ...(instructions === '' ? {} : { instructions }),
    ...(typeof further === 'string' ? {} : further),
  };
  return { route: 'speech', model, body, key };
}

function whatIsMissing({ model, input, voice, further }: SpeechForm): string | undefined {
  if (model === '') return 'Choose a model first.';
  if (input.trim() === '') return 'Write what shall be read first.';
  if (voice.trim() === '') return 'Choose a voice first.';
  return typeof parseFurther(further) === 'string' ? 'Further fields: this is not an object yet.' : undefined;
}

/** Of OpenAI's; other services have others, and any name may be typed. */
const voices = ['alloy', 'ash', 'ballad', 'coral', 'echo', 'fable', 'nova', 'onyx', 'sage', 'shimmer', 'verse'];
const formats = ['mp3', 'wav', 'opus', 'aac', 'flac', 'pcm'];

interface SpeechFieldsProps {
  readonly form: SpeechForm;
  readonly put: Put<SpeechForm>;
  readonly wantedModel: string | undefined;
}

function SpeechFields({ form, put, wantedModel }: SpeechFieldsProps) {
  const { format, speed, instructions, further } = form;
  return (
    <Stack gap="sm">
      <Examples examples={examples} onPick={put} />
      <ModelPair operation="speech" form={form} put={put} wanted={wantedModel} />
      <Textarea
        label="Text"
        value={form.input}
        onChange={(event) => put({ input: event.currentTarget.value })}
        autosize
        minRows={4}
        maxRows={14}
      />
      <Autocomplete
        label="Voice"
        description="A name that the model knows"
        data={voices}
        value={form.voice}
        onChange={(voice) => put({ voice })}
      />
      <MoreOptions set={countSet([format, speed, instructions, further])}>
        <ChoiceOption
          label="response_format"
          description="mp3 where none is sent"
          choices={formats}
          value={format}
          onChange={(next) => put({ format: next })}
        />
        <NumberOption
          label="speed"
          description="1 is as people talk"
          value={speed}
          onChange={(next) => put({ speed: next })}
          min={0.25}
          max={4}
          step={0.25}
        />
        <Textarea
          label="instructions"
          description="In which manner"
          placeholder="not sent"
          value={instructions}
          onChange={(event) => put({ instructions: event.currentTarget.value })}
          autosize
          minRows={1}
          maxRows={6}
        />
        <FurtherFields example='{"language": "en"}' value={further} onChange={(next) => put({ further: next })} />
      </MoreOptions>
    </Stack>
  );
}
