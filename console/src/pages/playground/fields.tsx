/** Makes form fields from a description: their input, what they send, and what is missing. */

import {
  Autocomplete,
  Button,
  Checkbox,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  Textarea,
  TextInput,
  UnstyledButton,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ComponentType, useId } from 'react';
import { Remark } from '../../parts/layout/text.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import type { Values } from '../../parts/snippets/share.ts';
import { FilePick } from './files.tsx';
import { parseFurther, parseTexts } from './texts.ts';

export type Files = Readonly<Record<string, readonly File[]>>;

export interface FilesProps {
  readonly files: readonly File[];
  onChange(files: readonly File[]): void;
}

export interface Field {
  readonly name: string;
  /** The kind of input. `texts`: several texts in one field. `suggest`: any text, with suggestions. */
  readonly kind: 'text' | 'line' | 'texts' | 'number' | 'choice' | 'suggest' | 'switch' | 'check' | 'files';
  /** The label, in which `#` stands for the number of texts. */
  readonly label: string;
  readonly description?: string;
  readonly placeholder?: string;
  /** Smallest and largest number of lines of a text field. */
  readonly rows?: readonly [number, number];
  readonly range?: { readonly min?: number; readonly max?: number; readonly step?: number };
  readonly choices?: readonly (string | { readonly value: string; readonly label: string })[];
  readonly initial?: string | boolean;
  /** The name in the body; undefined: the name in the form. */
  readonly sentAs?: string;
  /** What the field adds to the body, if that is more than its value. */
  readonly toBody?: (value: string, form: Values) => Readonly<Record<string, unknown>>;
  /** The message if a required field is empty. */
  readonly needed?: string;
  readonly faultOf?: (value: string) => string | undefined;
  /** Whether the field is shown; undefined: always. */
  readonly isShown?: (form: Values) => boolean;
  readonly trimmed?: boolean;
  /** The CSS class of code in the field. */
  readonly codeClass?: string;
  readonly accept?: string;
  readonly most?: number;
  /** Replaces the usual file input. */
  readonly view?: ComponentType<FilesProps>;
}

export const textOf = (form: Values, name: string): string => String(form[name] ?? '');

export const severalTexts = 'One a line; blocks with an empty line between them; or a JSON array.';

const isOn = (value: string | boolean | undefined): boolean => value === true;

export const initialOf = (fields: readonly Field[]): Values =>
  Object.fromEntries(
    fields.map(({ name, kind, initial }) => [name, initial ?? (kind === 'check' || kind === 'switch' ? false : '')]),
  );

/** What the field adds to the body; an empty option adds nothing. */
export function toBodyPart(field: Field, form: Values, isOption: boolean): Readonly<Record<string, unknown>> {
  const { name, kind, label, sentAs = label, toBody } = field;
  const value = textOf(form, name);
  const isEmpty = value === '' || value === 'false';
  if (kind === 'files' || (isEmpty && (isOption || kind === 'switch'))) return {};
  if (toBody !== undefined) return toBody(value, form);
  if (kind === 'texts') return { [sentAs]: parseTexts(value).items };
  if (kind === 'check') return { [sentAs]: true };
  if (kind !== 'number') return { [sentAs]: value };
  return value === '' || !Number.isFinite(Number(value)) ? {} : { [sentAs]: Number(value) };
}

export function missingIn({ name, kind, label, needed, faultOf }: Field, form: Values, files: Files) {
  const value = textOf(form, name);
  if (faultOf?.(value) !== undefined) return `${label}: this is not an object yet.`;
  const isEmpty = kind === 'files' ? (files[name] ?? []).length === 0 : value.trim() === '';
  return isEmpty || (kind === 'texts' && parseTexts(value).items.length === 0) ? needed : undefined;
}

interface FieldProps {
  readonly form: Values;
  put(change: Values): void;
  readonly files?: Files;
  putFiles?(change: Files): void;
}

export function FieldView({ field, isOption = false, ...props }: FieldProps & FieldViewProps) {
  const { form, put, files = {}, putFiles } = props;
  const { name, kind, label, description, choices = [], rows: [minRows, maxRows] = [1, 8] } = field;
  const value = textOf(form, name);
  const change = (next: string): void => put({ [name]: field.trimmed === true ? next.trim() : next });
  const shared = { label, description, placeholder: field.placeholder ?? (isOption ? 'not sent' : undefined) };
  switch (kind) {
    case 'text':
    case 'texts':
      return (
        <Textarea
          {...shared}
          label={label.replace('#', () => String(parseTexts(value).items.length))}
          value={value}
          onChange={(event) => change(event.currentTarget.value)}
          error={field.faultOf?.(value)}
          autosize
          minRows={minRows}
          maxRows={maxRows}
          {...(field.faultOf === undefined ? {} : { spellCheck: false })}
          {...(field.codeClass === undefined ? {} : { classNames: { input: field.codeClass } })}
        />
      );
    case 'line':
      return (
        <TextInput
          {...shared}
          value={value}
          onChange={(event) => change(event.currentTarget.value)}
          autoComplete="off"
        />
      );
    case 'number':
      return <NumberInput {...shared} {...field.range} value={value} onChange={(next) => change(String(next))} />;
    case 'choice':
      return (
        <Select
          {...shared}
          data={[...choices]}
          value={value === '' ? null : value}
          onChange={(next) => change(next ?? '')}
          clearable
          clearButtonProps={{ 'aria-label': `Send no ${label}` }}
        />
      );
    case 'suggest':
      return <Autocomplete {...shared} data={[...choices]} value={value} onChange={change} />;
    case 'switch':
    case 'check': {
      const Box = kind === 'switch' ? Switch : Checkbox;
      return (
        <Box
          label={label}
          checked={isOn(form[name])}
          onChange={(event) => put({ [name]: event.currentTarget.checked })}
        />
      );
    }
    case 'files': {
      const held = { files: files[name] ?? [], onChange: (next: readonly File[]) => putFiles?.({ [name]: next }) };
      if (field.view !== undefined) return <field.view {...held} />;
      const { accept = '', most = 1 } = field;
      return <FilePick label={label} description={description ?? ''} accept={accept} most={most} {...held} />;
    }
  }
}

interface FieldViewProps {
  readonly field: Field;
  readonly isOption?: boolean;
}

/** Rarely used parameters, collapsed. */
export function Options({ fields, ...props }: FieldProps & { readonly fields: readonly Field[] }) {
  const [opened, { toggle }] = useDisclosure(false);
  const id = useId();
  const { form } = props;
  const set = fields.filter(({ name }) => isOn(form[name]) || (typeof form[name] === 'string' && form[name] !== ''));
  const shown = fields.filter(({ isShown }) => isShown?.(form) ?? true);
  const checks = shown.filter(({ kind }) => kind === 'check');
  const toView = (field: Field) => <FieldView key={field.name} field={field} isOption {...props} />;
  return (
    <div>
      <UnstyledButton className="play-fold" aria-expanded={opened} aria-controls={id} onClick={toggle}>
        <span className="play-fold-mark" data-opened={opened || undefined}>
          <Icon name="chevron" size={14} />
        </span>
        Options{set.length > 0 ? ` (${set.length} set)` : ''}
      </UnstyledButton>
      <div id={id} hidden={!opened}>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" pt="xs">
          {shown.filter(({ kind }) => kind !== 'check').map(toView)}
          {checks.length > 0 && (
            <Stack gap="xs" justify="flex-end">
              {checks.map(toView)}
            </Stack>
          )}
        </SimpleGrid>
      </div>
    </div>
  );
}

/** An example of what the route is for, with which the form can be filled in. */
export interface Example {
  readonly title: string;
  readonly values: Values;
}

interface ExamplesProps {
  readonly examples: readonly Example[];
  onPick(values: Values): void;
}

export const Examples = ({ examples, onPick }: ExamplesProps) => (
  <Group gap={6} role="group" aria-label="Examples">
    <Remark>Try:</Remark>
    {examples.map(({ title, values }) => (
      <Button key={title} size="compact-xs" variant="default" onClick={() => onPick(values)}>
        {title}
      </Button>
    ))}
  </Group>
);

// Fields of several routes.

export const temperature: Field = {
  name: 'temperature',
  kind: 'number',
  label: 'temperature',
  description: 'Higher: more varied',
  range: { min: 0, max: 2, step: 0.1 },
};

export const topP: Field = {
  name: 'topP',
  kind: 'number',
  label: 'top_p',
  description: 'Likelier words only',
  range: { min: 0, max: 1, step: 0.05 },
};

/** The text in which a typed `\n` becomes a line end, which cannot be typed into the field. */
export const toStopText = (stop: string): string => stop.replaceAll(String.raw`\n`, '\n');

export const stop: Field = {
  name: 'stop',
  kind: 'line',
  label: 'stop',
  description: String.raw`Ends before this text; \n is a line's end`,
  toBody: (text) => ({ stop: toStopText(text) }),
};

export const versions: Field = {
  name: 'n',
  kind: 'number',
  label: 'n',
  description: 'How many versions',
  range: { min: 1 },
};

export const stream: Field = {
  name: 'stream',
  kind: 'switch',
  label: 'Show it word by word (stream)',
  initial: true,
  toBody: () => ({ stream: true, stream_options: { include_usage: true } }),
};

/** A field for JSON that is sent unchanged, for fields of the API that the page has no input for. */
export const furtherFields = (placeholder: string): Field => ({
  name: 'further',
  kind: 'text',
  label: 'Further fields',
  description: 'JSON; sent as they are, and they win',
  placeholder,
  faultOf: (text) => faultIn(parseFurther(text)),
  toBody: (text) => {
    const parsed = parseFurther(text);
    return typeof parsed === 'string' ? {} : parsed;
  },
});

/** The error of a field's parser, which returns a text if it cannot read the field. */
export const faultIn = (parsed: unknown): string | undefined => (typeof parsed === 'string' ? parsed : undefined);
