/** Playground tab that calls any JSON route with a raw body, and shows the raw response. */

import { Select, Stack } from '@mantine/core';
import { useCallback, useMemo } from 'react';
import { bodyOf, type Operation, operationRows } from '../../../../../src/admin/contract.ts';
import { Snippet } from '../../../parts/snippets/copy.tsx';
import type { Values } from '../../../parts/snippets/share.ts';
import { cannotBeTried, operationChoices } from '../../../parts/words/operations.ts';
import type { Answer, Call } from '../call.ts';
import { CallSource } from '../call-source.tsx';
import { shorten } from '../call-text.ts';
import { type Field, FieldView, faultIn, textOf } from '../fields.tsx';
import { addRun, useKept } from '../hooks.ts';
import { ModelChoice } from '../model-choice.tsx';
import type { TabProps } from '../operation-tab.tsx';
import { PairResult } from '../result.tsx';
import { CallForm, FormTools, NothingYet, RunBar, TabFrame } from '../tab-frame.tsx';
import { parseFurther } from '../texts.ts';
import { usePair } from '../use-call.ts';

const choices = operationChoices.filter(({ value }) => !cannotBeTried(value));

/** The operation chosen at first; routes with a tab of their own are rarely chosen here. */
const standard: Operation = 'count_tokens';

const sampleOf = (operation: Operation): string => JSON.stringify(operationRows[operation].sample.body, null, 2);

const bodyField: Field = {
  name: 'body',
  kind: 'text',
  label: 'Body',
  description: 'JSON; the model is put where the route has it',
  rows: [8, 24],
  faultOf: (text) => faultIn(parseFurther(text)),
  codeClass: 'play-code',
};

export default function AnyTab({ wantedModel, wantedRoute, wantedValues }: TabProps) {
  const start = choices.find(({ value }) => value === wantedRoute)?.value ?? standard;
  const initial = { operation: start, model: '', body: sampleOf(start) };
  const [form, put] = useKept<Values>('any', initial, wantedValues ?? (wantedRoute === undefined ? {} : initial));
  const operation = choices.find(({ value }) => value === form.operation)?.value ?? start;
  const model = textOf(form, 'model');
  const pair = usePair();
  const setModel = useCallback((next: string) => put({ model: next }), [put]);
  const fields = parseFurther(textOf(form, 'body'));
  const call: Call = {
    route: operation,
    model,
    body: bodyOf(operation, model, typeof fields === 'string' ? {} : fields),
  };
  const missing = model === '' ? 'Choose a model first.' : faultIn(fields);
  return (
    <TabFrame
      answer={pair.first.answer}
      form={
        <CallForm
          onRun={() => {
            addRun('any', form);
            pair.run(call, undefined);
          }}
          canRun={missing === undefined && !pair.isRunning}
        >
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
            <ModelChoice key={operation} operation={operation} value={model} onChange={setModel} wanted={wantedModel} />
            <FieldView field={bodyField} form={form} put={put} />
          </Stack>
          <RunBar
            label="Send"
            isRunning={pair.isRunning}
            onStop={pair.stop}
            missing={missing}
            tools={<FormTools draft="any" route={standard} values={form} onPick={put} />}
          />
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

/** Shows the answer as received. Long parts are cut here, but not in the raw body below. */
function AnswerAsItIs({ answer: { json, text, sound } }: { readonly answer: Answer }) {
  const shown = useMemo(() => shorten(json ?? text).text, [json, text]);
  if (sound !== undefined) return 'The answer is sound: the tab "Speech" plays it.';
  return <Snippet code={shown} language="Answer" label="Copy what is shown" />;
}
