/** React hook for a form with errors from the server, each shown at its field or above the form; keeps a draft of the input. */

import { type UseFormReturnType, useForm } from '@mantine/form';
import { useRef, useState } from 'react';
import { ApiError } from '../api/client.ts';
import { toMessage } from '../layout/state.tsx';
import { dropDraft, readDraft, useUnsaved, writeDraft } from './draft.ts';

export interface ApiFormOptions<Values extends object, Result> {
  readonly initialValues: Values;
  /** The name of the draft; without it, no draft is stored. */
  readonly draftKey?: string;
  /** Fields never stored in a draft: passwords and credentials. */
  readonly secrets?: readonly (keyof Values & string)[];
  /** Sends the form; errors that it throws are shown. */
  submit(values: Values): Promise<Result>;
  onDone?(result: Result, values: Values): void;
  /** Converts the API's path of a field, if the form has another: `targets[0].upstream` to `upstream`. */
  toField?(path: string): string;
}

export interface ApiForm<Values extends object> {
  readonly form: UseFormReturnType<Values>;
  /** The error that belongs to no field; to be shown with FormFault. */
  readonly fault: string | undefined;
  readonly busy: boolean;
  readonly onSubmit: (event?: React.SyntheticEvent<HTMLFormElement>) => void;
  /** Whether the values of an earlier draft are shown. */
  readonly fromDraft: boolean;
  /** Shows exactly these values; fields that they lack are removed. */
  show(values: Values): void;
  /** Shows each error at its field; returns those that belong to no field. */
  showFaults(thrown: unknown): string | undefined;
  discardDraft(): void;
}

export function useApiForm<Values extends object, Result = unknown>({
  initialValues,
  draftKey,
  secrets = [],
  submit,
  onDone,
  toField = (path) => path,
}: ApiFormOptions<Values, Result>): ApiForm<Values> {
  const [draft] = useState(() => (draftKey === undefined ? undefined : readDraft(draftKey)));
  const [fromDraft, setFromDraft] = useState(draft !== undefined);
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  // A second click may come before the first one has rendered.
  const sending = useRef(false);

  const form: UseFormReturnType<Values> = useForm<Values>({
    mode: 'controlled',
    initialValues: { ...initialValues, ...draft },
    onValuesChange: (values) => {
      if (draftKey !== undefined) writeDraft(draftKey, without(values, secrets));
    },
  });

  // Only a form that stores a draft asks before it is left.
  const isEdited = draftKey !== undefined && (fromDraft || form.isDirty());
  const forgetEdits = useUnsaved(isEdited);

  function show(values: Values): void {
    const gone = Object.fromEntries(Object.keys(form.getValues()).map((name) => [name, undefined]));
    form.setValues({ ...gone, ...values });
  }

  function discardDraft(): void {
    forgetEdits();
    if (draftKey !== undefined) dropDraft(draftKey);
    setFromDraft(false);
    show(initialValues);
    if (draftKey !== undefined) dropDraft(draftKey);
  }

  function showFaults(thrown: unknown): string | undefined {
    const { errors, rest } = toFormErrors(thrown, form.getValues(), toField);
    form.setErrors(errors);
    focusFirst(form, errors);
    return rest;
  }

  async function send(values: Values): Promise<void> {
    if (sending.current) return;
    sending.current = true;
    setBusy(true);
    setFault(undefined);
    form.clearErrors();
    try {
      const result = await submit(values);
      if (draftKey !== undefined) dropDraft(draftKey);
      setFromDraft(false);
      forgetEdits();
      onDone?.(result, values);
    } catch (thrown) {
      setFault(showFaults(thrown));
    } finally {
      sending.current = false;
      setBusy(false);
    }
  }

  const onSubmit = form.onSubmit((values) => void send(values));
  return { form, fault, busy, onSubmit, fromDraft, show, showFaults, discardDraft };
}

interface FormErrors {
  readonly errors: Record<string, string>;
  /** Errors that belong to no field of this form. */
  readonly rest: string | undefined;
}

function toFormErrors(thrown: unknown, values: object, toField: (path: string) => string): FormErrors {
  const errors: Record<string, string> = {};
  if (!(thrown instanceof ApiError) || thrown.fields.length === 0) return { errors, rest: toMessage(thrown) };
  const rest: string[] = [];
  for (const { path, message } of thrown.fields) {
    const field = toField(path).replaceAll(/\[(\d+)\]/g, '.$1');
    const known = field !== '' && nearestIn(values, field);
    if (known) errors[known] ??= message;
    else rest.push(path === '' ? message : `${toWords(path)}: ${message}`);
  }
  return { errors, rest: rest.length === 0 ? undefined : rest.join(' ') };
}

/** A path in words, for errors without a field here: `targets[0].base_url` becomes "target 1, base url". */
export function toWords(path: string): string {
  const words = path
    .replaceAll(/(\w+?)s?\[(\d+)\]/g, (_, name: string, at: string) => `${name} ${Number(at) + 1}`)
    .replaceAll('.', ', ')
    .replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The form's field for an error: the field itself, or one that contains it, such as `models` for `models.3`. */
function nearestIn(values: object, field: string): string | undefined {
  const steps = field.split('.');
  let value: unknown = values;
  const walked: string[] = [];
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) break;
    if (Array.isArray(value) && typeof Reflect.get(value, step) !== 'object') break;
    value = Reflect.get(value, step);
    walked.push(step);
  }
  return walked.length === 0 ? undefined : walked.join('.');
}

function focusFirst<Values extends object>(form: UseFormReturnType<Values>, errors: Record<string, string>): void {
  const [first] = Object.keys(errors);
  if (first === undefined) return;
  requestAnimationFrame(() => {
    const node: unknown = form.getInputNode(first as Parameters<typeof form.getInputNode>[0]);
    if (node instanceof HTMLElement) node.focus();
  });
}

function without<Values extends object>(values: Values, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
}
