/** How much a model takes and gives, where that is known: what worst cases and refusals go by. */

import { Checkbox, NumberInput, SimpleGrid, Stack, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ModelValues } from './model-document.ts';

const counts = [
  { name: 'context', label: 'Tokens it can hold' },
  { name: 'max_output', label: 'Tokens it writes, at most' },
  { name: 'max_tool_calls', label: 'Calls of tools it makes, at most' },
  { name: 'dimensions', label: 'Numbers in a vector' },
] as const;

export function SizeFields({ form }: { readonly form: UseFormReturnType<ModelValues> }) {
  return (
    <Stack gap="xs">
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        {counts.map(({ name, label }) => (
          <NumberInput key={name} label={label} min={1} allowDecimal={false} {...form.getInputProps(name)} />
        ))}
        <TextInput
          label="Sound it takes, at most"
          description="A time such as 10m."
          {...form.getInputProps('max_audio')}
        />
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        <TextInput label="Prefix of queries" {...form.getInputProps('roles.query')} />
        <TextInput label="Prefix of documents" {...form.getInputProps('roles.document')} />
      </SimpleGrid>
      <Checkbox
        label="Vectors may be cut short"
        description="Where a request wants fewer dimensions: they are cut and brought to length 1 here."
        {...form.getInputProps('matryoshka', { type: 'checkbox' })}
      />
    </Stack>
  );
}
