/** Renders form fields from their descriptions. */

import { Checkbox, NumberInput, Select, SimpleGrid, Switch, TagsInput, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { type Document, type FieldRow, type FormField, toText } from './documents.ts';

interface FormFieldsProps {
  readonly form: UseFormReturnType<Document>;
  readonly fields: readonly FieldRow[];
  /** Prefix of the fields' paths. */
  readonly at?: string;
}

export function FormFields({ form, fields, at = '' }: FormFieldsProps) {
  return fields.map((row) => {
    if (!('grid' in row)) return <OneField key={row.path} form={form} field={row} at={at} />;
    if (row.shownBy !== undefined && form.getInputProps(row.shownBy).value !== true) return null;
    return (
      <SimpleGrid key={row.grid[0]?.path} cols={{ base: 1, xs: 2 }} spacing="xs" style={{ alignItems: 'end' }}>
        <FormFields form={form} fields={row.grid} at={at} />
      </SimpleGrid>
    );
  });
}

interface OneFieldProps extends Pick<FormFieldsProps, 'form'> {
  readonly field: FormField;
  readonly at: string;
}

function OneField({ form, field, at }: OneFieldProps) {
  const { path, kind, ticked = true, choices, min = 1, max, step, faultAt = '', splitChars, inputMode } = field;
  const { label, description, placeholder } = field;
  const { value, error, ...input } = form.getInputProps(at + path);
  const shared = { label, description, placeholder, ...input, error: error ?? form.errors[faultAt] };
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
    case 'switch': {
      const Box = kind === 'check' ? Checkbox : Switch;
      const tick = (on: boolean): void => form.setFieldValue(at + path, on && ticked);
      const onChange = ({ currentTarget }: React.ChangeEvent<HTMLInputElement>) => tick(currentTarget.checked);
      return <Box {...shared} checked={value === ticked} onChange={onChange} />;
    }
    default:
      if (choices !== undefined) return <Select {...shared} value={value} data={choices} clearable />;
      return (
        <TextInput {...shared} value={toText(value)} inputMode={inputMode} autoComplete="off" spellCheck={false} />
      );
  }
}
