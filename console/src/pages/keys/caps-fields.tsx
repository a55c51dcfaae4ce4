/** The fields for limits and budgets, the same for a key and for a project. */

import {
  ActionIcon,
  Button,
  Fieldset,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { limitNames } from '../../../../src/admin/contract.ts';
import { Icon } from '../../parts/marks/icon.tsx';
import { limitLabels } from '../../parts/words/limits.ts';
import { type CapsValues, standardAlerts } from './key-values.ts';
import type { Period } from './words.ts';

const periods: readonly { readonly value: Period; readonly label: string }[] = [
  { value: 'month', label: 'Every month' },
  { value: 'week', label: 'Every week' },
  { value: 'day', label: 'Every day' },
  { value: 'total', label: 'In total' },
];

interface CapsFieldsProps<Values extends CapsValues> {
  readonly form: UseFormReturnType<Values>;
}

export function CapsFields<Values extends CapsValues>({ form }: CapsFieldsProps<Values>) {
  return (
    <>
      <LimitFields form={form} />
      <BudgetFields form={form} />
    </>
  );
}

function LimitFields<Values extends CapsValues>({ form }: CapsFieldsProps<Values>) {
  return (
    <Fieldset legend="Limits">
      <Text size="sm" c="dimmed" mb="sm">
        What is over a limit is refused, and told when it may come again. Leave a field empty for no limit.
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        {limitNames.map((name) => (
          <NumberInput
            key={name}
            label={limitLabels[name]}
            placeholder="No limit"
            min={1}
            allowDecimal={false}
            allowNegative={false}
            thousandSeparator
            hideControls
            {...form.getInputProps(`limits.${name}`)}
          />
        ))}
      </SimpleGrid>
    </Fieldset>
  );
}

function BudgetFields<Values extends CapsValues>({ form }: CapsFieldsProps<Values>) {
  const { budgets } = form.getValues();
  const free = periods.find(({ value }) => !budgets.some(({ every }) => every === value));
  const put = (next: CapsValues['budgets']): void => form.setFieldValue('budgets', next as never);
  const add = (): void => {
    if (free !== undefined) put([...budgets, { every: free.value, amount: '', alerts: standardAlerts }]);
  };
  const fault = form.errors.budgets;
  return (
    <Fieldset legend="Budgets">
      <Text size="sm" c="dimmed" mb="sm">
        In US dollars. A request that could cost more than what is left is refused before it is sent. Periods begin in
        UTC; weeks on Monday.
      </Text>
      <Stack gap="md">
        {budgets.map((_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a budget is its place, as its period changes
          <Group key={index} align="flex-start" gap="xs" wrap="nowrap">
            <SimpleGrid cols={2} spacing="xs" flex={1}>
              <Select
                label="Period"
                data={periods}
                allowDeselect={false}
                {...form.getInputProps(`budgets.${index}.every`)}
              />
              <TextInput
                label="Amount"
                leftSection="$"
                inputMode="decimal"
                placeholder="50"
                {...form.getInputProps(`budgets.${index}.amount`)}
              />
              <TagsInput
                label="Tell us at"
                className="whole-row"
                data={['50%', '80%', '90%', '100%']}
                acceptValueOnBlur
                {...form.getInputProps(`budgets.${index}.alerts`)}
              />
            </SimpleGrid>
            <ActionIcon
              variant="subtle"
              color="gray"
              mt={28}
              size="lg"
              aria-label={`Remove the budget ${index + 1}`}
              onClick={() => put(budgets.filter((_, other) => other !== index))}
            >
              <Icon name="trash" size={16} />
            </ActionIcon>
          </Group>
        ))}
        {fault !== undefined && (
          <Text size="sm" c="red" role="alert">
            {fault}
          </Text>
        )}
        {free !== undefined && (
          <Group>
            <Button variant="default" size="xs" leftSection={<Icon name="plus" size={14} />} onClick={add}>
              Add a budget
            </Button>
          </Group>
        )}
      </Stack>
    </Fieldset>
  );
}
