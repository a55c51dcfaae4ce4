/** The form of a model: its names and targets at once, the rest where it is looked for. */

import { Accordion, Checkbox, Group, Stack, Switch, TagsInput, Text, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { CapsFields } from '../../parts/forms/caps-fields.tsx';
import { FormButtons, FormFault } from '../../parts/forms/form-fault.tsx';
import type { ApiForm } from '../../parts/forms/use-api-form.ts';
import { Muted } from '../../parts/layout/text.tsx';
import { operationChoices } from '../../parts/words/operations.ts';
import { CallingFields } from './calling-fields.tsx';
import { ListFields } from './list-fields.tsx';
import type { ModelValues } from './model-document.ts';
import { PriceFields } from './price-fields.tsx';
import { SizeFields } from './size-fields.tsx';
import { TargetsFields } from './targets-fields.tsx';

interface ModelFormProps {
  readonly api: ApiForm<ModelValues>;
  /** Its ID can be chosen. */
  readonly isNew: boolean;
  readonly submitLabel: string;
  onCancel(): void;
  /** What has to be said above its end. */
  readonly children?: ReactNode;
}

export function ModelForm({ api, isNew, submitLabel, onCancel, children }: ModelFormProps) {
  const { form, fault, busy, onSubmit, fromDraft } = api;
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack gap="md">
        {fromDraft && <Muted role="status">What you typed before is here again.</Muted>}
        {isNew && (
          <TextInput
            label="Name for clients"
            description="What they write as model. One * makes it a pattern, such as gpt-*."
            required
            autoComplete="off"
            spellCheck={false}
            {...form.getInputProps('id')}
          />
        )}
        <TagsInput
          label="Other names"
          description="Further names for the same model; press Enter after each."
          {...form.getInputProps('aliases')}
        />
        <Checkbox.Group
          label="Serves"
          description="None ticked: whatever its upstreams offer."
          {...form.getInputProps('operations')}
        >
          <Group mt={6} gap="md">
            {operationChoices.map(({ value, label }) => (
              <Checkbox key={value} value={value} label={label} />
            ))}
          </Group>
        </Checkbox.Group>
        <Switch
          label="Clients see it"
          description="Hidden, lists leave it out; on rerank and embeddings it is as if it were not there."
          {...form.getInputProps('visible', { type: 'checkbox' })}
        />
        <TargetsFields form={form} />
        <Accordion multiple variant="separated" order={3}>
          <Section value="price" title="Price" hint="Where its targets say nothing themselves">
            <PriceFields form={form} path="price" standard="From the table of prices, else unknown" />
          </Section>
          <Section value="calling" title="Calling" hint="Balance, retries, a second call where the first is slow">
            <CallingFields form={form} />
          </Section>
          <Section value="lists" title="Lists" hint="What is remembered, joined, compared and watched">
            <ListFields form={form} />
          </Section>
          <Section value="sizes" title="Sizes" hint="What it holds and gives: for worst cases under a budget">
            <SizeFields form={form} />
          </Section>
          <Section value="caps" title="Limits and budgets" hint="For all who use it together">
            <Stack gap="md">
              <CapsFields form={form} newBudget={(every) => ({ every, amount: '', rest: {} })} />
            </Stack>
          </Section>
        </Accordion>
        {children}
        <FormFault fault={fault} />
        <FormButtons onCancel={onCancel} submitLabel={submitLabel} busy={busy} />
      </Stack>
    </form>
  );
}

interface SectionProps {
  readonly value: string;
  readonly title: string;
  readonly hint: string;
  readonly children: ReactNode;
}

function Section({ value, title, hint, children }: SectionProps) {
  return (
    <Accordion.Item value={value}>
      <Accordion.Control>
        <Text fw={500} component="span">
          {title}
        </Text>
        <Muted component="span" display="block">
          {hint}
        </Muted>
      </Accordion.Control>
      <Accordion.Panel>{children}</Accordion.Panel>
    </Accordion.Item>
  );
}
