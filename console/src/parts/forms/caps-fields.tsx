/** Fields for limits and budgets, for a key, project or model. */

import { Fieldset, Group, NumberInput, Select, SimpleGrid, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { limitNames } from '../../../../src/admin/contract.ts';
import { Action, IconButton } from '../layout/button.tsx';
import { Muted } from '../layout/text.tsx';
import { limitLabels, periodChoices, standardAlerts } from '../words/caps.ts';
import { type Document, toMappings } from './documents.ts';

interface CapsFieldsProps {
  readonly form: UseFormReturnType<Document>;
  /** Whether the form also has the shares of a budget at which alerts are sent. */
  readonly hasAlerts?: boolean;
}

export function CapsFields(props: CapsFieldsProps) {
  return (
    <>
      <LimitFields form={props.form} />
      <BudgetFields {...props} />
    </>
  );
}

function LimitFields({ form }: Pick<CapsFieldsProps, 'form'>) {
  return (
    <Fieldset legend="Limits">
      <Muted mb="sm">A request over a limit gets 429 with Retry-After. Leave a field empty for no limit.</Muted>
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

function BudgetFields({ form, hasAlerts = false }: CapsFieldsProps) {
  const budgets = toMappings(form.getValues().budgets);
  const free = periodChoices.find(({ value }) => !budgets.some(({ every }) => every === value));
  const fault = form.errors.budgets;
  const newBudget = { amount: '', ...(hasAlerts && { alerts: standardAlerts }) };
  return (
    <Fieldset legend="Budgets">
      <Muted mb="sm">
        In US dollars. A request that could cost more than what is left is refused before it is sent. Periods begin in
        UTC; weeks on Monday.
      </Muted>
      <Stack gap="md">
        {budgets.map((_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a budget is its place, as its period changes
          <Group key={index} align="flex-start" gap="xs" wrap="nowrap">
            <SimpleGrid cols={2} spacing="xs" flex={1}>
              <Select
                label="Period"
                data={periodChoices}
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
              {hasAlerts && (
                <TagsInput
                  label="Alert at"
                  className="whole-row"
                  data={['50%', '80%', '90%', '100%']}
                  acceptValueOnBlur
                  {...form.getInputProps(`budgets.${index}.alerts`)}
                />
              )}
            </SimpleGrid>
            <IconButton
              icon="trash"
              label={`Remove the budget ${index + 1}`}
              mt={28}
              size="lg"
              onClick={() => form.removeListItem('budgets', index)}
            />
          </Group>
        ))}
        {fault !== undefined && (
          <Text size="sm" c="red" role="alert">
            {fault}
          </Text>
        )}
        {free !== undefined && (
          <Group>
            <Action
              icon="plus"
              label="Add a budget"
              size="xs"
              onClick={() => form.insertListItem('budgets', { ...newBudget, every: free.value })}
            />
          </Group>
        )}
      </Stack>
    </Fieldset>
  );
}
