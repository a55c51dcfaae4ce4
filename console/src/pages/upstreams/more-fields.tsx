/** Rarely used fields of an upstream: timeouts, limits, headers, TLS, health check. */

import {
  Accordion,
  Button,
  Fieldset,
  Group,
  NumberInput,
  PasswordInput,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useState } from 'react';
import type { FamilyFacts } from '../../../../src/admin/contract.ts';
import { type FieldRow, type FormField, FormFields } from '../../parts/forms/form-fields.tsx';
import { Action } from '../../parts/layout/button.tsx';
import { Muted } from '../../parts/layout/text.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import {
  emptyHeader,
  emptyKey,
  type KeyValues,
  plainFields,
  timeoutNames,
  type UpstreamLimitName,
  type UpstreamValues,
  upstreamLimitNames,
} from './upstream-values.ts';
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
            <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
              <FormFields form={form} fields={timeoutFields} />
            </SimpleGrid>
          </Section>
          <Section value="headers" title="Headers">
            <Headers form={form} />
          </Section>
          <Section value="endpoints" title="Endpoints">
            <Stack gap="sm">
              <FormFields form={form} fields={endpointFields} />
            </Stack>
          </Section>
          <Section value="health" title="Health check and encryption">
            <Stack gap="sm">
              <FormFields form={form} fields={healthFields} />
            </Stack>
          </Section>
        </>
      )}
      <Section value="answers" title="Answers">
        <Stack gap="sm">
          <FormFields
            form={form}
            fields={family.takesLegacyEngines ? [...answerFields, ...engineFields] : answerFields}
          />
        </Stack>
      </Section>
    </Accordion>
  );
}

const sectionBy: Readonly<Record<string, string>> = {
  limits: 'limits',
  pace: 'limits',
  endpoints: 'endpoints',
  endpoint_zone: 'endpoints',
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

/** Sections with errors are opened. */
const sectionsOf = (fields: readonly string[]): string[] =>
  fields.flatMap((field) => sectionBy[field.split('.')[0] ?? ''] ?? []);

const Section = ({ value, title, children }: { value: string; title: string; children: React.ReactNode }) => (
  <Accordion.Item value={value}>
    <Accordion.Control>{title}</Accordion.Control>
    <Accordion.Panel>{children}</Accordion.Panel>
  </Accordion.Item>
);

type FormProps = Pick<MoreFieldsProps, 'form'>;

const Limits = ({ form }: FormProps) => (
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
          inputMode={name in limitExamples ? 'text' : 'numeric'}
          placeholder={limitExamples[name] ?? ''}
          {...form.getInputProps(`limits.${name}`)}
          onChange={({ currentTarget }) => form.setFieldValue(`limits.${name}`, toNumber(currentTarget.value))}
        />
      ))}
    </SimpleGrid>
    <FormFields form={form} fields={paceFields} />
  </Stack>
);

const limitExamples: Readonly<Partial<Record<UpstreamLimitName, string>>> = {
  concurrency: '256',
  queue_timeout: '5s',
  bulk_share: '10%',
};

const paceFields: readonly FormField[] = [
  {
    path: 'pace',
    label: 'How long a call may wait for a rate limit',
    description: 'In place of an error 429. Left empty: not at all.',
    placeholder: '30s',
  },
];

const endpointFields: readonly FormField[] = [
  {
    path: 'endpoints',
    kind: 'tags',
    label: 'Endpoints',
    description:
      'dns or srv to look up all addresses of the host, off for one connection at a time, or addresses such as 10.0.0.7:8080; press Enter after each. Left empty: dns where the host has several private addresses.',
  },
  {
    path: 'endpoint_zone',
    kind: 'tags',
    label: 'Preferred addresses',
    description: 'Ranges such as 10.1.0.0/16, the subnet of this zone. The others are called when half of these fail.',
  },
];

/** Text that is no number stays as typed, so that the gateway reports what it expects. */
const toNumber = (text: string): number | string => (/^\d{1,15}$/.test(text.trim()) ? Number(text) : text);

const timeoutFields = timeoutNames.map((name): FormField => {
  const [label, description, placeholder] = timeoutWords[name];
  return { path: `timeouts.${name}`, label, description, placeholder };
});

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
      <FormFields form={form} fields={headerFields} />
    </Stack>
  );
}

const headerFields: readonly FormField[] = [
  {
    path: 'forward_headers',
    kind: 'tags',
    label: 'Headers of clients to let through',
    description: 'By name; press Enter after each. Others never reach the service, save for a few that always do.',
  },
  {
    path: 'response_headers',
    kind: 'tags',
    label: 'Headers of answers to let through',
    description: 'By name, or by its beginning and a *, such as x-ratelimit-*. Left empty: all that may pass at all.',
  },
];

const healthFields: readonly FieldRow<UpstreamValues>[] = [
  {
    path: 'health_check.path',
    label: 'Path of the health check',
    description: 'Asked from time to time; anything below status 300 is a yes. Left empty: no check.',
    placeholder: '/health',
  },
  {
    grid: [
      { path: 'health_check.interval', label: 'How often', placeholder: '10s' },
      { path: 'health_check.timeout', label: 'How long it may take', placeholder: '2s' },
    ],
  },
  {
    path: 'tls.server_name',
    label: 'Name that the certificate must have',
    description:
      'Where it is not the host of the address. An authority of your own is named in the configuration file (tls.ca).',
  },
];

const answerFields: readonly FormField[] = [
  ...Object.entries(plainFields).map(([path, words]) => ({ ...words, path })),
  {
    path: 'base64',
    kind: 'switch',
    label: 'Make base64 here',
    description: 'Where a client wants vectors in base64 and the service has floats only.',
  },
  {
    path: 'screensErrorsOnly',
    kind: 'switch',
    label: 'Look for the credential in errors alone',
    description: 'Else in what succeeds, too: an answer that repeats the credential is cut where it begins.',
  },
];

const engineFields: readonly FormField[] = [
  {
    path: 'legacy_engines',
    kind: 'switch',
    label: 'It serves the old path /engines/{model}/embeddings itself',
    description: 'Else the model is put into the body for it, which nearly every service wants.',
  },
];

interface CredentialFieldsProps {
  readonly form: UseFormReturnType<UpstreamValues>;
  readonly family: FamilyFacts;
}

const words: Readonly<Record<FamilyFacts['credential'], readonly [label: string, about: string]>> = {
  none: ['', ''],
  key: ['API key', 'Sealed in the store when it is saved; nobody can read it here afterwards.'],
  signed: [
    'API key, or ACCESS_KEY_ID:SECRET_ACCESS_KEY',
    'Each call is signed with it; :SESSION_TOKEN goes behind it where the key is temporary. It is sealed when it is saved.',
  ],
  document: [
    'Key file of a service account, or an access token',
    'Paste the whole JSON. It is sealed when it is saved; nobody can read it here afterwards.',
  ],
};

/** Credentials, which can be written but not read: one, or several that share the calls. */
export function CredentialFields({ form, family }: CredentialFieldsProps) {
  const { keys } = form.getValues();
  if (family.credential === 'none' && keys.length === 0) return null;
  const isShared = keys.length > 1;
  return (
    <Stack gap="sm">
      {keys.map((key, index) => (
        <KeyField key={key.row} form={form} family={family} value={key} index={index} isShared={isShared} />
      ))}
      <Group>
        <Action
          icon="plus"
          label={keys.length === 0 ? 'Add a credential' : 'Add another credential'}
          size="xs"
          onClick={() => form.insertListItem('keys', emptyKey())}
        />
        {isShared && <Muted>They share the calls by weight; where one is refused, the others go on.</Muted>}
      </Group>
    </Stack>
  );
}

interface KeyFieldProps extends CredentialFieldsProps {
  readonly value: KeyValues;
  readonly index: number;
  readonly isShared: boolean;
}

function KeyField({ form, family, value, index, isShared }: KeyFieldProps) {
  const input = <SecretInput form={form} family={family} value={value} index={index} isShared={isShared} />;
  const remove = (
    <Action
      icon="trash"
      label="Remove"
      size="xs"
      onClick={() => form.removeListItem('keys', index)}
      aria-label={isShared ? `Remove credential ${index + 1}` : 'Remove the credential'}
    />
  );
  if (!isShared) {
    return (
      <Stack gap={6}>
        {input}
        {(value.kept !== '' || value.file !== '') && <Group>{remove}</Group>}
      </Stack>
    );
  }
  return (
    <Fieldset legend={`Credential ${index + 1}`}>
      <Stack gap="sm">
        {input}
        <Group align="flex-end">
          <NumberInput
            label="Weight"
            description="Its share beside the others; 0 rests it."
            min={0}
            allowDecimal={false}
            maw={200}
            {...form.getInputProps(`keys.${index}.weight`)}
          />
          {remove}
        </Group>
      </Stack>
    </Fieldset>
  );
}

function SecretInput({ form, family, value, index, isShared }: KeyFieldProps) {
  const [label, about] = words[family.credential];
  if (value.file !== '') {
    return (
      <Text size="sm" className="breaks">
        The key is in the file <strong>{value.file}</strong> of the gateway's machine, which the command line named.
      </Text>
    );
  }
  const isKept = value.kept !== '' && value.secret === '';
  const common = {
    ...form.getInputProps(`keys.${index}.secret`),
    label: isShared ? `${label} ${index + 1}` : label,
    description: isKept ? 'One is set. Type another one to replace it; leave this empty to keep it.' : about,
    placeholder: isKept ? 'Set' : '',
    autoComplete: 'off',
    spellCheck: false,
  };
  if (family.credential === 'document') return <Textarea {...common} autosize minRows={3} maxRows={8} />;
  return (
    <PasswordInput
      {...common}
      autoComplete="new-password"
      visibilityToggleButtonProps={{ 'aria-label': 'Show what I type' }}
    />
  );
}
