/** Shows the form of a model: names and targets first, the rest in collapsed sections. */

import {
  Accordion,
  Autocomplete,
  Button,
  Card,
  Checkbox,
  Collapse,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import type { GetInputPropsReturnType, UseFormReturnType } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { CapsFields } from '../../parts/forms/caps-fields.tsx';
import { type Document, toMapping, toMappings, toText } from '../../parts/forms/documents.ts';
import { FormButtons, FormFault } from '../../parts/forms/form-fault.tsx';
import { FormFields } from '../../parts/forms/form-fields.tsx';
import type { ApiForm } from '../../parts/forms/use-api-form.ts';
import { Action, IconButton } from '../../parts/layout/button.tsx';
import { Heading, Muted } from '../../parts/layout/text.tsx';
import { useUpstreams } from '../../parts/models/pick-models.tsx';
import { operationChoices } from '../../parts/words/operations.ts';
import { priceUnits, unitWords } from '../../parts/words/prices.ts';
import { emptyTarget, factorNames, type PriceKind } from './model-document.ts';
import { callingFields, listFields, sizeFields, targetFields } from './model-fields.ts';
import { factorWords } from './model-words.ts';

interface ModelFormProps {
  readonly api: ApiForm<Document>;
  /** Whether the model is new, so that its ID can be chosen. */
  readonly isNew: boolean;
  onCancel(): void;
  /** Content above the buttons. */
  readonly children?: ReactNode;
}

export function ModelForm({ api, isNew, onCancel, children }: ModelFormProps) {
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
            <Stack gap="xs">
              <FormFields form={form} fields={callingFields} />
            </Stack>
          </Section>
          <Section value="lists" title="Lists" hint="What is remembered, joined, compared and watched">
            <Stack gap="xs">
              <FormFields form={form} fields={listFields} />
            </Stack>
          </Section>
          <Section value="sizes" title="Sizes" hint="What it holds and gives: for worst cases under a budget">
            <Stack gap="xs">
              <FormFields form={form} fields={sizeFields} />
            </Stack>
          </Section>
          <Section value="caps" title="Limits and budgets" hint="For all who use it together">
            <Stack gap="md">
              <CapsFields form={form} />
            </Stack>
          </Section>
        </Accordion>
        {children}
        <FormFault fault={fault} />
        <FormButtons busy={busy} onCancel={onCancel} submitLabel={isNew ? 'Add the model' : 'Save'} />
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

const Section = ({ value, title, hint, children }: SectionProps) => (
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

type Form = UseFormReturnType<Document>;

function TargetsFields({ form }: { readonly form: Form }) {
  const targets = toMappings(form.values.targets);
  return (
    <Stack gap="xs" component="section" aria-label="Targets">
      <Heading>Targets</Heading>
      <Muted>
        Those with the lowest priority are tried first and share the calls by weight; the others are there for when they
        fail.
      </Muted>
      {form.errors.targets !== undefined && (
        <Text size="sm" c="red" role="alert">
          {form.errors.targets}
        </Text>
      )}
      {targets.map((target, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: faults and values go by the place in the list
        <TargetFields key={index} form={form} index={index} target={target} isOnly={targets.length === 1} />
      ))}
      <Group>
        <Action
          icon="plus"
          label="Add a target"
          size="xs"
          onClick={() => form.insertListItem('targets', emptyTarget())}
        />
      </Group>
    </Stack>
  );
}

interface TargetFieldsProps {
  readonly form: Form;
  readonly index: number;
  readonly target: Document;
  readonly isOnly: boolean;
}

function TargetFields({ form, index, target, isOnly }: TargetFieldsProps) {
  const [more, { toggle }] = useDisclosure(
    toMapping(target.price).kind !== 'standard' ||
      target.bridge !== null ||
      target.scores !== null ||
      [target.max_items, target.max_tokens, target.max_bytes].some((value) => value !== ''),
  );
  const { data: upstreams = [] } = useUpstreams();
  const at = `targets.${index}`;
  const names = upstreams.map(({ id }) => id);
  return (
    <Card withBorder padding="sm" role="group" aria-label={`Target ${index + 1}`}>
      <Stack gap="xs">
        <Group align="flex-start" wrap="nowrap" gap="xs">
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" flex={1}>
            <Autocomplete label="Upstream" data={names} required {...form.getInputProps(`${at}.upstream`)} />
            <TextInput
              label="Its name there"
              placeholder={toText(form.values.id) || 'the same name'}
              autoComplete="off"
              spellCheck={false}
              {...form.getInputProps(`${at}.model`)}
            />
          </SimpleGrid>
          <IconButton
            icon="trash"
            label={`Take target ${index + 1} out`}
            mt={26}
            size="lg"
            disabled={isOnly}
            onClick={() => form.removeListItem('targets', index)}
          />
        </Group>
        <Group gap="xs" align="flex-end">
          <NumberInput
            label="Priority"
            min={0}
            allowDecimal={false}
            w={100}
            {...form.getInputProps(`${at}.priority`)}
          />
          <NumberInput label="Weight" min={0} allowDecimal={false} w={100} {...form.getInputProps(`${at}.weight`)} />
          <Button variant="subtle" onClick={toggle} aria-expanded={more}>
            {more ? 'Less' : 'More'}
          </Button>
        </Group>
        <Collapse expanded={more}>
          <Stack gap="xs">
            <PriceFields form={form} path={`${at}.price`} standard="As the model's price says" />
            <FormFields form={form} fields={[{ grid: targetFields }]} at={`${at}.`} />
          </Stack>
        </Collapse>
      </Stack>
    </Card>
  );
}

interface PriceFieldsProps {
  readonly form: UseFormReturnType<Document>;
  /** Path of the price in the form: `price`, or `targets.0.price` for a target's. */
  readonly path: string;
  /** Text shown while no price is set. */
  readonly standard: string;
}

/** A price as operators set it: default, free, unknown, or an amount for each billed unit. */
function PriceFields({ form, path, standard }: PriceFieldsProps) {
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
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" style={{ alignItems: 'end' }}>
          {priceUnits.map((unit) => (
            <TextInput
              key={unit}
              label={unitWords[unit]}
              leftSection={<Text size="sm">$</Text>}
              inputMode="decimal"
              autoComplete="off"
              {...amountOf(form.getInputProps(`${path}.${unit}`))}
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

/** The input of an amount. Images may have a list of prices, which stays until an amount is typed. */
const amountOf = ({ value, ...input }: GetInputPropsReturnType) => ({
  ...input,
  value: toText(value),
  placeholder: Array.isArray(value) ? 'By size and quality, as written' : '',
});
