/** Moderation: texts, pictures where the model takes them, and what was found in each. */

import './moderations.css';
import { Stack, Textarea, TextInput, VisuallyHidden } from '@mantine/core';
import { useCallback } from 'react';
import { type Call, read } from '../call.ts';
import { CallFacts } from '../call-facts.tsx';
import { CallFault } from '../call-fault.tsx';
import { CallSource } from '../call-source.tsx';
import { type Example, Examples } from '../examples.tsx';
import { ModelChoice } from '../model-choice.tsx';
import { countSet, MoreOptions } from '../more-options.tsx';
import { useOwnKey } from '../own-key.tsx';
import { CallForm, RunBar } from '../run-bar.tsx';
import { StaleNote } from '../stale-note.tsx';
import { NothingYet, TabFrame } from '../tab-frame.tsx';
import type { TabProps } from '../tab-props.ts';
import { parseTexts, toShownText } from '../texts.ts';
import { type CallHandle, useCall } from '../use-call.ts';
import { useKept } from '../use-kept.ts';
import { VerdictCard } from './verdict-card.tsx';
import { toVerdicts } from './verdicts.ts';

interface ModerationsForm {
  model: string;
  texts: string;
  image: string;
}

const examples: readonly Example<ModerationsForm>[] = [
  {
    title: 'Harmless and harmful',
    values: {
      texts: [
        'I will hurt you if you come back.',
        'The knife cuts bread very well.',
        'You are a worthless idiot.',
      ].join('\n'),
    },
  },
  {
    title: 'A question that sounds worse than it is',
    values: { texts: ['How do I kill a process that does not answer?', 'This film is to die for.'].join('\n') },
  },
];

const sampleForm: ModerationsForm = { model: '', texts: '', image: '', ...examples[0]?.values };

export default function ModerationsTab({ wantedModel }: TabProps) {
  const [form, put] = useKept<ModerationsForm>('moderations', sampleForm);
  const key = useOwnKey();
  const handle = useCall();
  const { items } = parseTexts(form.texts);
  const call = toCall(form, items, key);
  const missing = whatIsMissing(form, items.length);
  const setModel = useCallback((model: string) => put({ model }), [put]);
  return (
    <TabFrame
      answer={handle.answer}
      form={
        <CallForm onRun={() => void handle.run(call)} canRun={missing === undefined && !handle.isRunning}>
          <Stack gap="sm">
            <Examples examples={examples} onPick={put} />
            <ModelChoice operation="moderations" value={form.model} onChange={setModel} wanted={wantedModel} />
            <Textarea
              label={`Texts (${items.length})`}
              description="One a line; blocks with an empty line between them; or a JSON array."
              value={form.texts}
              onChange={(event) => put({ texts: event.currentTarget.value })}
              autosize
              minRows={5}
              maxRows={14}
            />
            <MoreOptions set={countSet([form.image])}>
              <TextInput
                label="Address of a picture"
                description="For models that look at pictures; all texts and the picture are then judged together."
                placeholder="https://…"
                value={form.image}
                onChange={(event) => put({ image: event.currentTarget.value.trim() })}
                autoComplete="off"
              />
            </MoreOptions>
          </Stack>
          <RunBar label="Judge" isRunning={handle.isRunning} onStop={handle.stop} missing={missing} />
        </CallForm>
      }
      result={<ModerationsResult handle={handle} call={call} />}
      source={<CallSource operation="moderations" call={call} answer={handle.answer} />}
    />
  );
}

function toCall({ model, image }: ModerationsForm, items: readonly unknown[], key: string | undefined): Call {
  const input = image === '' ? items : toParts(items, image);
  return { route: 'moderations', model, body: { model, input }, key };
}

function toParts(items: readonly unknown[], image: string): readonly unknown[] {
  const texts = items.map((item) => ({ type: 'text', text: toShownText(item) }));
  return [...texts, { type: 'image_url', image_url: { url: image } }];
}

function whatIsMissing({ model, image }: ModerationsForm, count: number): string | undefined {
  if (model === '') return 'Choose a model first.';
  return count === 0 && image === '' ? 'Write a text first.' : undefined;
}

function ModerationsResult({
  handle: { answer, error, isRunning },
  call,
}: {
  readonly handle: CallHandle;
  readonly call: Call;
}) {
  const verdicts = toVerdicts(answer);
  const flagged = verdicts.filter(({ isFlagged }) => isFlagged).length;
  const texts = answer === undefined ? [] : toSubjects(answer.call, verdicts.length);
  return (
    <Stack gap="sm" aria-busy={isRunning}>
      {answer !== undefined && <CallFacts answer={answer} />}
      <CallFault answer={answer} error={error} />
      <StaleNote answer={answer} call={call} />
      <VisuallyHidden role="status">
        {verdicts.length === 0 ? '' : `${flagged} of ${verdicts.length} flagged.`}
      </VisuallyHidden>
      {verdicts.map((verdict, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an input is told apart by its place
        <VerdictCard key={index} verdict={verdict} text={texts[index] ?? `Input ${index + 1}`} />
      ))}
      {answer === undefined && error === undefined && (
        <NothingYet icon="shield">
          For each text you see how strongly every category speaks, and which ones are flagged.
        </NothingYet>
      )}
    </Stack>
  );
}

/** Texts in parts are judged together: one verdict for all. */
function toSubjects({ body: { input } }: Call, verdicts: number): readonly string[] {
  if (!Array.isArray(input)) return [toShownText(input)];
  if (verdicts === input.length) return input.map(toShownText);
  return [input.map((part) => (read(part, 'type') === 'image_url' ? '(picture)' : toShownText(part))).join('\n')];
}
