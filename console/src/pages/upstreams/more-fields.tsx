/** What few upstreams need: patience, limits, headers, encryption, a health check. */

import { Accordion, Button, Group, SimpleGrid, Stack, Switch, TagsInput, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useState } from 'react';
import type { FamilyFacts } from '../../../../src/admin/contract.ts';
import { PlainField } from '../../parts/forms/plain-field.tsx';
import { Action } from '../../parts/layout/button.tsx';
import { Muted } from '../../parts/layout/text.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { emptyHeader, plainFields, timeoutNames, type UpstreamValues, upstreamLimitNames } from './upstream-values.ts';
import { limitWords, timeoutWords } from './upstream-words.ts';

interface MoreFieldsProps {
  readonly form: UseFormReturnType<UpstreamValues>;
  readonly family: FamilyFacts;
}

export function MoreFields({ form, family }: MoreFieldsProps) {
  const isNetworked = family.kind !== 'built-in';
  const [opened, setOpened] = useState<string[]>([]);
  const atFault = sectionsOf(Object.keys(form.errors));
  return (
    <Accordion
      multiple
      variant="contained"
      order={4}
      value={[...new Set([...opened, ...atFault])]}
      onChange={setOpened}
    >
      <Section value="limits" title="Limits">
        <Limits form={form} />
      </Section>
      {isNetworked && (
        <>
          <Section value="timeouts" title="Patience">
            <Timeouts form={form} />
          </Section>
          <Section value="headers" title="Headers">
            <Headers form={form} />
          </Section>
          <Section value="health" title="Health check and encryption">
            <HealthAndTls form={form} />
          </Section>
        </>
      )}
      <Section value="answers" title="Answers">
        <Answers form={form} family={family} />
      </Section>
    </Accordion>
  );
}

const sectionBy: Readonly<Record<string, string>> = {
  limits: 'limits',
  timeouts: 'timeouts',
  headers: 'headers',
  forward_headers: 'headers',
  response_headers: 'headers',
  health_check: 'health',
  tls: 'health',
  ...Object.fromEntries(Object.keys(plainFields).map((name) => [name, 'answers'])),
  base64: 'answers',
  legacy_engines: 'answers',
  screen: 'answers',
};

/** What is at fault has to be seen. */
function sectionsOf(fields: readonly string[]): string[] {
  return fields.flatMap((field) => sectionBy[field.split('.')[0] ?? ''] ?? []);
}

function Section({ value, title, children }: { value: string; title: string; children: React.ReactNode }) {
  return (
    <Accordion.Item value={value}>
      <Accordion.Control>{title}</Accordion.Control>
      <Accordion.Panel>{children}</Accordion.Panel>
    </Accordion.Item>
  );
}

type FormProps = Pick<MoreFieldsProps, 'form'>;

function Limits({ form }: FormProps) {
  return (
    <Stack gap="sm">
      <Muted>
        How much is sent there, all keys and models together. Left empty: 256 calls at a time, 256 waiting up to 5s, and
        no limit by the minute or the day.
      </Muted>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        {upstreamLimitNames.map((name) => (
          <TextInput
            key={name}
            label={limitWords[name]}
            inputMode={name === 'queue_timeout' ? 'text' : 'numeric'}
            placeholder={name === 'queue_timeout' ? '5s' : ''}
            {...form.getInputProps(`limits.${name}`)}
            onChange={({ currentTarget }) => form.setFieldValue(`limits.${name}`, toNumber(currentTarget.value))}
          />
        ))}
      </SimpleGrid>
    </Stack>
  );
}

/** What is no number stays as it was typed, for the gateway to say what is wanted. */
function toNumber(text: string): number | string {
  return /^\d{1,15}$/.test(text.trim()) ? Number(text) : text;
}

function Timeouts({ form }: FormProps) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      {timeoutNames.map((name) => {
        const [label, about, example] = timeoutWords[name];
        return (
          <TextInput
            key={name}
            label={label}
            description={about}
            placeholder={example}
            {...form.getInputProps(`timeouts.${name}`)}
          />
        );
      })}
    </SimpleGrid>
  );
}

function Headers({ form }: FormProps) {
  const { headers } = form.getValues();
  const fault = form.errors.headers;
  return (
    <Stack gap="sm">
      <Muted>Sent with every call. Their values are sealed like credentials.</Muted>
      {headers.map(({ row, kept, value }, index) => (
        <Group key={row} align="flex-end" wrap="nowrap" gap="xs">
          <TextInput label="Name" placeholder="X-Team" flex={1} {...form.getInputProps(`headers.${index}.name`)} />
          <TextInput
            label="Value"
            placeholder={kept !== '' && value === '' ? 'Set' : ''}
            flex={1}
            autoComplete="off"
            {...form.getInputProps(`headers.${index}.value`)}
          />
          <Button
            variant="default"
            onClick={() => form.removeListItem('headers', index)}
            aria-label="Remove this header"
          >
            <Icon name="trash" size={16} />
          </Button>
        </Group>
      ))}
      {fault !== undefined && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {fault}
        </Text>
      )}
      <Group>
        <Action
          icon="plus"
          label="Add a header"
          size="xs"
          onClick={() => form.insertListItem('headers', emptyHeader())}
        />
      </Group>
      <TagsInput
        label="Headers of clients to let through"
        description="By name; press Enter after each. Others never reach the service, save for a few that always do."
        acceptValueOnBlur
        {...form.getInputProps('forward_headers')}
      />
      <TagsInput
        label="Headers of answers to let through"
        description="By name, or by its beginning and a *, such as x-ratelimit-*. Left empty: all that may pass at all."
        acceptValueOnBlur
        {...form.getInputProps('response_headers')}
      />
    </Stack>
  );
}

function HealthAndTls({ form }: FormProps) {
  return (
    <Stack gap="sm">
      <TextInput
        label="Path of the health check"
        description="Asked from time to time; anything below status 300 is a yes. Left empty: no check."
        placeholder="/health"
        {...form.getInputProps('health_check.path')}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput label="How often" placeholder="10s" {...form.getInputProps('health_check.interval')} />
        <TextInput label="How long it may take" placeholder="2s" {...form.getInputProps('health_check.timeout')} />
      </SimpleGrid>
      <TextInput
        label="Name that the certificate must have"
        description="Where it is not the host of the address. An authority of your own is named in the configuration file (tls.ca)."
        {...form.getInputProps('tls.server_name')}
      />
    </Stack>
  );
}

function Answers({ form, family }: MoreFieldsProps) {
  return (
    <Stack gap="sm">
      {Object.entries(plainFields).map(([name, words]) => (
        <PlainField key={name} words={words} input={form.getInputProps(name)} />
      ))}
      <Switch
        label="Make base64 here"
        description="Where a client wants vectors in base64 and the service has floats only."
        {...form.getInputProps('base64', { type: 'checkbox' })}
      />
      <Switch
        label="Look for the credential in errors alone"
        description="Else in what succeeds, too: an answer that repeats the credential is cut where it begins."
        {...form.getInputProps('screensErrorsOnly', { type: 'checkbox' })}
      />
      {family.takesLegacyEngines && (
        <Switch
          label="It serves the old path /engines/{model}/embeddings itself"
          description="Else the model is put into the body for it, which nearly every service wants."
          {...form.getInputProps('legacy_engines', { type: 'checkbox' })}
        />
      )}
    </Stack>
  );
}
