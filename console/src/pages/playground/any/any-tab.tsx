/** Any route that takes JSON: a body as it is written, and the answer as it comes. */

import { Select, Stack, Textarea } from '@mantine/core';
import { useCallback, useMemo } from 'react';
import { bodyOf, operationRows } from '../../../../../src/admin/contract.ts';
import { Snippet } from '../../../parts/snippets/copy.tsx';
import { cannotBeTried, operationChoices } from '../../../parts/words/operations.ts';
import type { Answer, Call } from '../call.ts';
import { CallSource } from '../call-source.tsx';
import { parseFurther } from '../further.ts';
import { ModelChoice } from '../model-choice.tsx';
import type { Operation } from '../models.ts';
import { useOwnKey } from '../own-key.tsx';
import { PairResult } from '../pair-result.tsx';
import { CallForm, RunBar } from '../run-bar.tsx';
import { shorten } from '../shorten.ts';
import { NothingYet, TabFrame } from '../tab-frame.tsx';
import type { TabProps } from '../tab-props.ts';
import { useKept } from '../use-kept.ts';
import { usePair } from '../use-pair.ts';

interface AnyForm {
  operation: string;
  model: string;
  body: string;
}

const choices = operationChoices.filter(({ value }) => !cannotBeTried(value));

/** What has a tab of its own is seldom looked for here. */
const standard: Operation = 'count_tokens';

const sampleOf = (operation: Operation): string => JSON.stringify(operationRows[operation].sample.body, null, 2);

export default function AnyTab({ wantedModel, wantedRoute }: TabProps) {
  const start = choices.find(({ value }) => value === wantedRoute)?.value ?? standard;
  const initial = { operation: start, model: '', body: sampleOf(start) };
  const [form, put] = useKept<AnyForm>('any', initial, wantedRoute === undefined ? {} : initial);
  const operation = choices.find(({ value }) => value === form.operation)?.value ?? start;
  const key = useOwnKey();
  const pair = usePair();
  const setModel = useCallback((model: string) => put({ model }), [put]);
  const fields = parseFurther(form.body);
  const fault = typeof fields === 'string' ? fields : undefined;
  const body = bodyOf(operation, form.model, typeof fields === 'string' ? {} : fields);
  const call: Call = { route: operation, model: form.model, body, key };
  const missing = form.model === '' ? 'Choose a model first.' : fault;
  return (
    <TabFrame
      answer={pair.first.answer}
      form={
        <CallForm onRun={() => pair.run(call, undefined)} canRun={missing === undefined && !pair.isRunning}>
          <Stack gap="sm">
            <Select
              label="Route"
              data={choices}
              value={operation}
              onChange={(next) => {
                const chosen = choices.find(({ value }) => value === next)?.value;
                if (chosen !== undefined) put({ operation: chosen, model: '', body: sampleOf(chosen) });
              }}
              allowDeselect={false}
              searchable
            />
            <ModelChoice
              key={operation}
              operation={operation}
              value={form.model}
              onChange={setModel}
              wanted={wantedModel}
            />
            <Textarea
              label="Body"
              description="JSON; the model is put where the route has it"
              value={form.body}
              onChange={(event) => put({ body: event.currentTarget.value })}
              error={fault}
              autosize
              minRows={8}
              maxRows={24}
              spellCheck={false}
              classNames={{ input: 'play-code' }}
            />
          </Stack>
          <RunBar label="Send" isRunning={pair.isRunning} onStop={pair.stop} missing={missing} />
        </CallForm>
      }
      result={
        <PairResult
          pair={pair}
          call={call}
          nothingYet={<NothingYet icon="code">The answer stands here as it comes.</NothingYet>}
          render={(answer) => <AnswerAsItIs answer={answer} />}
        />
      }
      source={<CallSource operation={operation} call={call} answer={pair.first.answer} />}
    />
  );
}

/** Long parts by their beginning; the whole of it stands below. */
function AnswerAsItIs({ answer: { json, text, sound } }: { readonly answer: Answer }) {
  const shown = useMemo(() => shorten(json ?? text).text, [json, text]);
  if (sound !== undefined) return 'The answer is sound: the tab "Speech" plays it.';
  return <Snippet code={shown} language="Answer" label="Copy what is shown" />;
}
