/** Form fields made from their descriptions. */

import { Checkbox, NumberInput, Select, SimpleGrid, Switch, TagsInput, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { FieldWords } from '../words/operations.ts';

export interface FormField extends FieldWords {
  readonly path: string;
  /** If it is neither a text nor a choice. */
  readonly kind?: 'number' | 'tags' | 'check' | 'switch';
  /** Default: at least 1. */
  readonly min?: number;
  readonly max?: number;
  /** Default: whole numbers. */
  readonly step?: number;
  /** The separators of a list of texts. */
  readonly splitChars?: string[];
  /** A further path whose errors are shown here, such as the whole section. */
  readonly faultAt?: string;
}

/** A field, or several side by side if there is room. */
export type FieldRow<Values> = FormField | FieldGrid<Values>;

interface FieldGrid<Values> {
  readonly grid: readonly FormField[];
  readonly isShown?: (values: Values) => boolean;
}

interface FormFieldsProps<Values> {
  readonly form: UseFormReturnType<Values>;
  readonly fields: readonly FieldRow<Values>[];
  /** The prefix of each path. */
  readonly at?: string;
}

export function FormFields<Values>({ form, fields, at = '' }: FormFieldsProps<Values>) {
  return fields.map((row) => {
    if (!('grid' in row)) return <OneField key={row.path} form={form} field={row} at={at} />;
    if (row.isShown?.(form.getValues()) === false) return null;
    return (
      <SimpleGrid key={row.grid[0]?.path} cols={{ base: 1, xs: 2 }} spacing="xs" style={{ alignItems: 'end' }}>
        <FormFields form={form} fields={row.grid} at={at} />
      </SimpleGrid>
    );
  });
}

interface OneFieldProps<Values> extends Pick<FormFieldsProps<Values>, 'form'> {
  readonly field: FormField;
  readonly at: string;
}

function OneField<Values>({ form, field, at }: OneFieldProps<Values>) {
  const { path, kind, choices, min = 1, max, step, faultAt = '', splitChars, ...words } = field;
  const isBox = kind === 'check' || kind === 'switch';
  const { value, error, ...input } = form.getInputProps(at + path, isBox ? { type: 'checkbox' } : {});
  const shared = { ...words, ...input, error: error ?? form.errors[faultAt] };
  switch (kind) {
    case 'number':
      return (
        <NumberInput
          {...shared}
          value={value}
          min={min}
          {...(max === undefined ? {} : { max })}
          {...(step === undefined ? { allowDecimal: false } : { step })}
        />
      );
    case 'tags':
      return <TagsInput {...shared} value={value} {...(splitChars === undefined ? {} : { splitChars })} />;
    case 'check':
      return <Checkbox {...shared} />;
    case 'switch':
      return <Switch {...shared} />;
    default:
      if (choices !== undefined) return <Select {...shared} value={value} data={choices} clearable />;
      return <TextInput {...shared} value={value ?? ''} autoComplete="off" spellCheck={false} />;
  }
}
