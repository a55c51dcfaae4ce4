/** Makes a playground tab from an operation's description: form, one or two responses, and the call as text. */

import { SegmentedControl, Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { GatewayRoute, Operation } from '../../../../src/admin/contract.ts';
import type { IconName } from '../../parts/marks/icon.tsx';
import type { Values } from '../../parts/snippets/share.ts';
import { operationWords } from '../../parts/words/operations.ts';
import type { Answer, Call, FormPart } from './call.ts';
import { CallSource } from './call-source.tsx';
import {
  type Example,
  Examples,
  type Field,
  FieldView,
  type Files,
  initialOf,
  missingIn,
  Options,
  textOf,
  toBodyPart,
} from './fields.tsx';
import { addRun, useKept } from './hooks.ts';
import { ModelPair } from './model-choice.tsx';
import { PairResult } from './result.tsx';
import { CallForm, FormTools, NothingYet, RunBar, TabFrame } from './tab-frame.tsx';
import { type Pair, usePair } from './use-call.ts';

export interface TabProps {
  /** The model in the URL. */
  readonly wantedModel: string | undefined;
  /** The route in the URL, if the tab has several. */
  readonly wantedRoute: string | undefined;
  /** The form values in the URL. */
  readonly wantedValues: Values | undefined;
}

export interface OperationSpec {
  /** The name under which the draft is stored. */
  readonly draft: string;
  /** The operations of the tab; if there are several, one is chosen in the form. */
  readonly operations: readonly [Operation, ...Operation[]];
  /** The route to call, if it is not the operation's own route. */
  readonly route?: GatewayRoute;
  /** Whether a second model can be chosen for the same call. */
  readonly isPair: boolean;
  readonly examples: readonly Example[];
  readonly fields: readonly Field[];
  readonly options: readonly Field[];
  readonly runLabel: string;
  /** Shown until there is an answer. */
  readonly nothingYet: readonly [icon: IconName, text: string];
  /** Says what is missing, in addition to what the fields check themselves. */
  readonly missing?: (form: Values, files: Files) => string | undefined;
}

export interface Result {
  readonly pair: Pair;
  /** The call as the form describes it now. */
  readonly call: Call;
  readonly nothingYet: ReactNode;
}

interface OperationTabProps extends TabProps {
  readonly spec: OperationSpec;
  /** Renders one answer; several are rendered by `result`. */
  readonly render?: (answer: Answer) => ReactNode;
  readonly result?: (result: Result) => ReactNode;
  /** Called instead of sending the usual call. */
  readonly onRun?: (call: Call, pair: Pair) => void;
}

export function OperationTab(props: OperationTabProps) {
  const { spec, wantedModel, wantedRoute, wantedValues, render, result, onRun } = props;
  const { operations, isPair, examples, fields, options } = spec;
  const wanted = operations.find((one) => one === wantedRoute);
  const [form, put] = useKept<Values>(spec.draft, toInitial(spec), {
    ...wantedValues,
    ...(wanted !== undefined && { operation: wanted }),
  });
  const [files, setFiles] = useState<Files>({});
  const pair = usePair();
  const operation = operationOf(spec, form);
  const call = toCall(spec, form, files, textOf(form, 'model'));
  const other = textOf(form, 'other');
  const missing = whatIsMissing(spec, form, files);
  const run = (): void => {
    addRun(spec.draft, form);
    if (onRun !== undefined) onRun(call, pair);
    else pair.run(call, other === '' ? undefined : toCall(spec, form, files, other));
  };
  // A model of one operation rarely serves another, so a new operation clears the models.
  const withOperation = (values: Values): Values =>
    (values.operation ?? operation) === operation ? values : { ...values, model: '', other: '' };
  const state = { form, put, files, putFiles: (change: Files) => setFiles({ ...files, ...change }) };
  const [icon, text] = spec.nothingYet;
  const nothingYet = <NothingYet icon={icon}>{text}</NothingYet>;
  return (
    <TabFrame
      answer={pair.first.answer}
      isWide={other !== ''}
      form={
        <CallForm onRun={run} canRun={missing === undefined && !pair.isRunning}>
          <Stack gap="sm">
            {examples.length > 0 && <Examples examples={examples} onPick={(values) => put(withOperation(values))} />}
            {operations.length > 1 && (
              <SegmentedControl
                aria-label="What to do"
                data={operations.map((value) => ({ value, label: operationWords[value] }))}
                value={operation}
                onChange={(next) => put(withOperation({ operation: next }))}
                fullWidth
                size="xs"
              />
            )}
            <ModelPair operation={operation} form={form} put={put} wanted={wantedModel} isPair={isPair} />
            {shownOf(fields, form).map((field) => (
              <FieldView key={field.name + field.label} field={field} {...state} />
            ))}
            <Options fields={options} {...state} />
          </Stack>
          <RunBar
            label={spec.runLabel}
            isRunning={pair.isRunning}
            onStop={pair.stop}
            missing={missing}
            tools={<FormTools draft={spec.draft} route={spec.route ?? operation} values={form} onPick={put} />}
          />
        </CallForm>
      }
      result={
        result?.({ pair, call, nothingYet }) ?? (
          <PairResult pair={pair} call={call} nothingYet={nothingYet} render={render ?? (() => null)} />
        )
      }
      source={<CallSource operation={operation} call={call} answer={pair.first.answer} />}
    />
  );
}

const toInitial = ({ operations: [operation], isPair, examples, fields, options }: OperationSpec): Values => ({
  ...{ model: '', operation, ...(isPair ? { other: '' } : {}) },
  ...initialOf([...fields, ...options]),
  ...examples[0]?.values,
});

const operationOf = ({ operations }: OperationSpec, form: Values): Operation =>
  operations.find((one) => one === form.operation) ?? operations[0];

const shownOf = (fields: readonly Field[], form: Values): readonly Field[] =>
  fields.filter(({ isShown }) => isShown?.(form) ?? true);

function toCall(spec: OperationSpec, form: Values, files: Files, model: string): Call {
  const route = spec.route ?? operationOf(spec, form);
  const [fields, options] = [shownOf(spec.fields, form), shownOf(spec.options, form)];
  const body: Readonly<Record<string, unknown>> = Object.assign(
    spec.route === undefined ? { model } : {},
    ...fields.map((field) => toBodyPart(field, form, false)),
    ...options.map((field) => toBodyPart(field, form, true)),
  );
  const fileFields = fields.filter(({ kind }) => kind === 'files');
  if (fileFields.length === 0) return { route, model, body };
  const parts: FormPart[] = Object.entries(body).map(([name, value]) => ({ name, value: toText(value) }));
  for (const { name, label, sentAs = label } of fileFields) {
    const held = files[name] ?? [];
    parts.push(...held.map((value) => ({ name: held.length > 1 ? `${sentAs}[]` : sentAs, value })));
  }
  const named = parts.map(({ name, value }) => [name, typeof value === 'string' ? value : value.name] as const);
  return { route, model, body: Object.fromEntries(named), form: parts };
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

function whatIsMissing(spec: OperationSpec, form: Values, files: Files): string | undefined {
  if (form.model === '') return 'Choose a model first.';
  for (const field of shownOf([...spec.fields, ...spec.options], form)) {
    const missing = missingIn(field, form, files);
    if (missing !== undefined) return missing;
  }
  return spec.missing?.(form, files);
}
