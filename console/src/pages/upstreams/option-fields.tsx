/** A family's own settings, each drawn from what the family says of it. */

import { Select, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { FamilyFacts, FamilyOption } from '../../../../src/admin/contract.ts';
import type { UpstreamValues } from './upstream-values.ts';
import { plain } from './upstream-words.ts';

interface OptionFieldsProps {
  readonly form: UseFormReturnType<UpstreamValues>;
  readonly family: FamilyFacts;
  /** Those without which it cannot be, or the others. */
  readonly required: boolean;
}

export function OptionFields({ form, family, required }: OptionFieldsProps) {
  return family.options
    .filter((option) => option.required === required)
    .map((option) => <OptionField key={option.name} form={form} option={option} />);
}

function OptionField({ form, option }: { readonly form: OptionFieldsProps['form']; readonly option: FamilyOption }) {
  const { name, description, values, form: wanted, default: standard, required } = option;
  const common = {
    ...form.getInputProps(`options.${name}`),
    label: toLabel(name),
    description: plain(description),
    withAsterisk: required,
  };
  if (values !== null) {
    return <Select {...common} data={values} allowDeselect={false} checkIconPosition="right" />;
  }
  return <TextInput {...common} placeholder={wanted ?? standard ?? ''} autoComplete="off" spellCheck={false} />;
}

/** `max_items` to "Max items". */
function toLabel(name: string): string {
  const text = name.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
