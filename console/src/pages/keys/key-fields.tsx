/** Renders the form fields of a key, for creating and changing one. */

import {
  Fieldset,
  Group,
  MultiSelect,
  Radio,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { CapsFields } from '../../parts/forms/caps-fields.tsx';
import { type Document, isEmpty, toMappings, toText } from '../../parts/forms/documents.ts';
import { FormFields } from '../../parts/forms/form-fields.tsx';
import { Action, IconButton } from '../../parts/layout/button.tsx';
import { Notice } from '../../parts/layout/state.tsx';
import { mostOptions } from '../../parts/models/pick-models.tsx';
import { operationChoices } from '../../parts/words/operations.ts';
import { useModels, useProjects } from './data.ts';
import { plainRows } from './key-values.ts';

const expiryChoices = [
  { value: 'never', label: 'Never' },
  { value: '30d', label: 'In 30 days' },
  { value: '90d', label: 'In 90 days' },
  { value: '365d', label: 'In a year' },
  { value: 'date', label: 'On a day…' },
];

type KeyForm = UseFormReturnType<Document>;

export const KeyFields = ({ form }: { readonly form: KeyForm }) => (
  <>
    <TextInput
      label="Name"
      description="Who or what will use it, such as “Search, production”."
      required
      maxLength={100}
      data-autofocus
      {...form.getInputProps('name')}
    />
    <ReachFields form={form} />
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      <ExpiryFields form={form} />
      <ProjectField form={form} />
    </SimpleGrid>
    <FormFields form={form} fields={plainRows} />
    <CapsFields form={form} hasAlerts />
    <NoteFields form={form} />
    <CaptureFields form={form} />
  </>
);

function ReachFields({ form }: { readonly form: KeyForm }) {
  const { models } = useModels();
  const ids = [...new Set(models.map(({ id }) => id))];
  return (
    <Fieldset legend="What it may use">
      <Stack gap="sm">
        <Radio.Group label="Models" {...form.getInputProps('scope')} error={undefined}>
          <Group mt={6}>
            <Radio value="all" label="Every model" />
            <Radio value="some" label="Only these" />
          </Group>
        </Radio.Group>
        {form.getValues().scope === 'some' && (
          <TagsInput
            label="Which models"
            description="Pick from the list, or type a pattern with one *, such as gpt-*."
            data={ids}
            limit={mostOptions}
            maxDropdownHeight={240}
            acceptValueOnBlur
            {...form.getInputProps('models')}
          />
        )}
        <MultiSelect
          label="Operations"
          placeholder={isEmpty(form.getValues().operations) ? 'All of them' : ''}
          data={operationChoices}
          clearable
          {...form.getInputProps('operations')}
        />
        <TagsInput
          label="Addresses"
          description="IP addresses and ranges it may be used from, such as 10.0.0.0/8. Empty: from anywhere."
          acceptValueOnBlur
          splitChars={[',', ' ']}
          {...form.getInputProps('addresses')}
        />
      </Stack>
    </Fieldset>
  );
}

const ExpiryFields = ({ form }: { readonly form: KeyForm }) => (
  <Stack gap="xs">
    <Select label="Ends" data={expiryChoices} allowDeselect={false} {...form.getInputProps('expiry')} />
    {form.getValues().expiry === 'date' && (
      <TextInput
        type="date"
        label="Day"
        description="It ends as that day begins, in UTC."
        {...form.getInputProps('expiresOn')}
      />
    )}
  </Stack>
);

function ProjectField({ form }: { readonly form: KeyForm }) {
  const { data } = useProjects();
  const choices = (data?.items ?? []).map(({ id, document }) => ({
    value: id,
    label: typeof document.name === 'string' ? `${document.name} (${id})` : id,
  }));
  const project = toText(form.getValues().project);
  const isKnown = project === '' || choices.some(({ value }) => value === project);
  return (
    <Select
      label="Project"
      placeholder="None"
      data={isKnown ? choices : [...choices, { value: project, label: project }]}
      clearable
      {...form.getInputProps('project')}
    />
  );
}

function NoteFields({ form }: { readonly form: KeyForm }) {
  const notes = toMappings(form.getValues().notes);
  const fault = form.errors.notes;
  return (
    <Fieldset legend="Notes">
      <Stack gap="xs">
        {notes.map((_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a note is its place, as both of its texts change
          <Group key={index} gap="xs" wrap="nowrap" align="flex-end">
            <TextInput label="Name" placeholder="team" flex={1} {...form.getInputProps(`notes.${index}.name`)} />
            <TextInput label="Text" placeholder="search" flex={2} {...form.getInputProps(`notes.${index}.text`)} />
            <IconButton
              icon="trash"
              label={`Remove the note ${index + 1}`}
              size="lg"
              onClick={() => form.removeListItem('notes', index)}
            />
          </Group>
        ))}
        {fault !== undefined && (
          <Text size="sm" c="red" role="alert">
            {fault}
          </Text>
        )}
        <Group>
          <Action
            icon="plus"
            label="Add a note"
            size="xs"
            onClick={() => form.insertListItem('notes', { name: '', text: '' })}
          />
        </Group>
      </Stack>
    </Fieldset>
  );
}

function CaptureFields({ form }: { readonly form: KeyForm }) {
  const { captures } = form.getValues();
  return (
    <Fieldset legend="Privacy">
      <Stack gap="sm">
        <Switch
          label="Capture requests and responses"
          description="For debugging. Off: the ledger has figures, no bodies."
          {...form.getInputProps('captures', { type: 'checkbox' })}
        />
        {captures === true && (
          <>
            <Notice title="This keeps people’s texts">
              Whatever is sent with this key and whatever comes back is stored, with known kinds of secrets taken out.
              Admins can read it. Tell those whose texts these are, and keep it no longer than you need.
            </Notice>
            <TextInput
              label="For how long"
              description="Such as 24h or 7d; then it is deleted."
              {...form.getInputProps('capture')}
            />
          </>
        )}
      </Stack>
    </Fieldset>
  );
}
