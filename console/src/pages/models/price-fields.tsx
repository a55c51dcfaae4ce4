/** A price as operators set it: from elsewhere, free, unknown, or an amount for each unit that is billed. */

import { Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { type ModelValues, type PriceKind, priceUnits } from './model-document.ts';
import { unitWords } from './model-words.ts';

interface PriceFieldsProps {
  readonly form: UseFormReturnType<ModelValues>;
  /** `price`, or of a target `targets.0.price`. */
  readonly path: string;
  /** What holds where nothing is set. */
  readonly standard: string;
}

export function PriceFields({ form, path, standard }: PriceFieldsProps) {
  const kind = form.getInputProps(`${path}.kind`);
  const kinds: { value: PriceKind; label: string }[] = [
    { value: 'standard', label: standard },
    { value: 'amounts', label: 'Set here' },
    { value: 'free', label: 'Free' },
    { value: 'unknown', label: 'Unknown: count requests without a cost' },
  ];
  return (
    <Stack gap="xs">
      <Select label="Price" data={kinds} allowDeselect={false} {...kind} error={form.errors[path]} />
      {kind.value === 'amounts' && (
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
          {priceUnits.map((unit) => (
            <TextInput
              key={unit}
              label={unitWords[unit]}
              leftSection={<Text size="sm">$</Text>}
              inputMode="decimal"
              autoComplete="off"
              {...form.getInputProps(`${path}.${unit}`)}
            />
          ))}
        </SimpleGrid>
      )}
    </Stack>
  );
}
