/** Form fields of an upstream that are rarely used: timeouts, limits, headers, TLS, health check. */

import {
  Accordion,
  Button,
  Fieldset,
  Group,
  NumberInput,
  PasswordInput,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useState } from 'react';
import type { FamilyFacts } from '../../../../src/admin/contract.ts';
import { fieldsOf } from '../../parts/forms/documents.ts';
import { FormFields } from '../../parts/forms/form-fields.tsx';
import { Action } from '../../parts/layout/button.tsx';
import { Muted } from '../../parts/layout/text.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { engineField, type Section, sections } from './upstream-fields.ts';
import { emptyHeader, emptyKey, type KeyValues, type UpstreamValues } from './upstream-values.ts';

interface MoreFieldsProps {
  readonly form: UseFormReturnType<UpstreamValues>;
  readonly family: FamilyFacts;
}

export function MoreFields({ form, family }: MoreFieldsProps) {
  const [opened, setOpened] = useState<string[]>([]);
  const shown = sections.filter(({ isNetworked = false }) => !isNetworked || family.kind !== 'built-in');
  const atFault = shown.filter(isAtFault(Object.keys(form.errors))).map(({ name }) => name);
  return (
    <Accordion
      multiple
      variant="contained"
      order={4}
      value={[...new Set([...opened, ...atFault])]}
      onChange={setOpened}
    >
      {shown.map(({ name, title, about, fields }) => (
        <Accordion.Item key={name} value={name}>
          <Accordion.Control>{title}</Accordion.Control>
          <Accordion.Panel>
            <Stack gap="sm">
              {about !== undefined && <Muted>{about}</Muted>}
              {name === 'headers' && <Headers form={form} />}
              <FormFields
                form={form}
                fields={fields.filter((row) => family.takesLegacyEngines || row !== engineField)}
              />
            </Stack>
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

function isAtFault(faults: readonly string[]): (section: Section) => boolean {
  const names = new Set(faults.map(first));
  return ({ name, fields }) => [name, ...fieldsOf(fields).map(({ path }) => first(path))].some((one) => names.has(one));
}

const first = (path: string): string => path.replace(/\..*/, '');

function Headers({ form }: Pick<MoreFieldsProps, 'form'>) {
  const { headers } = form.getValues();
  const fault = form.errors.headers;
  return (
    <>
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
    </>
  );
}

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
            description="Its share of the calls; with 0 it is not used."
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
