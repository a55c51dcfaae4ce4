/** What all who use a model together may use of it: within a minute, a day, at a time, and in money. */

import { ActionIcon, Button, Group, NumberInput, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { limitNames } from '../../../../src/admin/contract.ts';
import { Icon } from '../../parts/marks/icon.tsx';
import { limitLabels } from '../../parts/words/limits.ts';
import type { ModelValues } from './model-document.ts';

const periods = [
  { value: 'day', label: 'Day' },
  { value: 'week', label: 'Week' },
  { value: 'month', label: 'Month' },
  { value: 'total', label: 'In total' },
];

export function CapsFields({ form }: { readonly form: UseFormReturnType<ModelValues> }) {
  return (
    <Stack gap="md">
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        {limitNames.map((name) => (
          <NumberInput
            key={name}
            label={limitLabels[name]}
            placeholder="No limit"
            min={1}
            allowDecimal={false}
            thousandSeparator=" "
            {...form.getInputProps(`limits.${name}`)}
          />
        ))}
      </SimpleGrid>
      <Stack gap="xs">
        {form.values.budgets.map((_budget, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: faults and values go by the place in the list
          <Group key={index} align="flex-start" wrap="nowrap" gap="xs">
            <Select
              label="Budget for each"
              data={periods}
              allowDeselect={false}
              {...form.getInputProps(`budgets.${index}.every`)}
            />
            <TextInput
              label="Amount"
              leftSection={<Text size="sm">$</Text>}
              inputMode="decimal"
              autoComplete="off"
              {...form.getInputProps(`budgets.${index}.amount`)}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              mt={26}
              size="lg"
              onClick={() => form.removeListItem('budgets', index)}
              aria-label={`Take budget ${index + 1} out`}
            >
              <Icon name="trash" size={16} />
            </ActionIcon>
          </Group>
        ))}
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<Icon name="plus" size={14} />}
            onClick={() => form.insertListItem('budgets', { every: 'month', amount: '', rest: {} })}
          >
            Add a budget
          </Button>
        </Group>
      </Stack>
    </Stack>
  );
}
