/** A price as operators set it: from elsewhere, free, unknown, or an amount for each unit that is billed. */

import { Select, SimpleGrid, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { factorNames, type ModelValues, type PriceKind, priceUnits } from './model-document.ts';
import { factorWords, unitWords } from './model-words.ts';

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
  const listsImages = 'image' in Object(form.getInputProps(`${path}.rest`).value);
  return (
    <Stack gap="xs">
      <Select label="Price" data={kinds} allowDeselect={false} {...kind} error={form.errors[path]} />
      {kind.value === 'amounts' && (
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" style={{ alignItems: 'end' }}>
          {priceUnits.map((unit) => (
            <TextInput
              key={unit}
              label={unitWords[unit]}
              leftSection={<Text size="sm">$</Text>}
              inputMode="decimal"
              autoComplete="off"
              {...(unit === 'image' && listsImages && { placeholder: 'By size and quality, as written' })}
              {...form.getInputProps(`${path}.${unit}`)}
            />
          ))}
          <TextInput
            label="Lines of a batch cost"
            placeholder="100%"
            autoComplete="off"
            {...form.getInputProps(`${path}.batch`)}
          />
          <TagsInput
            label="Calls of tools"
            placeholder="web_search: 0.01"
            description="In dollars, for those that the service runs itself; press Enter after each."
            {...form.getInputProps(`${path}.tools`)}
          />
          {factorNames.map((name) => (
            <TagsInput
              key={name}
              label={factorWords[name].label}
              placeholder={factorWords[name].example}
              description="Times the price of tokens; press Enter after each."
              {...form.getInputProps(`${path}.factors.${name}`)}
            />
          ))}
        </SimpleGrid>
      )}
    </Stack>
  );
}
