/** Shows the form of an upstream, made from its family's description; the connection can be tested before saving. */

import { Group, Select, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { FamilyFacts, FamilyOption } from '../../../../src/admin/contract.ts';
import { ConnectionTest } from '../../parts/forms/connection-test.tsx';
import { toText } from '../../parts/forms/documents.ts';
import { FormButtons, FormFault } from '../../parts/forms/form-fault.tsx';
import type { ApiForm } from '../../parts/forms/use-api-form.ts';
import { Action } from '../../parts/layout/button.tsx';
import { Heading, Muted } from '../../parts/layout/text.tsx';
import { CredentialFields, MoreFields } from './more-fields.tsx';
import { testDraft } from './upstream-data.ts';
import { toUpstreamDocument, type UpstreamValues } from './upstream-values.ts';
import { plain, wayWords } from './upstream-words.ts';

interface UpstreamFormProps {
  readonly api: ApiForm<UpstreamValues>;
  readonly family: FamilyFacts;
  readonly isNew: boolean;
  onCancel(): void;
  /** Content above the buttons. */
  readonly children?: ReactNode;
}

export function UpstreamForm({ api, family, isNew, onCancel, children }: UpstreamFormProps) {
  const { form, fault, busy, onSubmit, fromDraft } = api;
  const [testFault, setFault] = useState<string>();
  const isBuiltIn = family.kind === 'built-in';
  const tested = useMutation({
    mutationFn: () => {
      const values = form.getValues();
      form.clearErrors();
      return testDraft(toText(values.id).trim(), toUpstreamDocument(values, family));
    },
    onError: (error) => {
      const others = api.showFaults(error);
      setFault(others ?? 'Nothing was sent: see what is said at the fields that are marked.');
    },
  });
  return (
    <form onSubmit={onSubmit} noValidate autoComplete="off">
      <Stack>
        {fromDraft && <Muted role="status">What you typed before is here again, without credentials.</Muted>}
        <TextInput
          label="Name"
          description="For targets, logs and headers; it cannot be changed later."
          withAsterisk
          disabled={!isNew}
          autoFocus={isNew}
          autoComplete="off"
          spellCheck={false}
          {...form.getInputProps('id')}
        />
        <OptionFields form={form} family={family} required />
        {!isBuiltIn && (
          <TextInput
            label="Address"
            description={aboutAddress(family)}
            placeholder={family.baseUrl ?? 'https://'}
            withAsterisk={family.needsAddress}
            type="url"
            autoComplete="off"
            spellCheck={false}
            {...form.getInputProps('base_url')}
          />
        )}
        <CredentialFields form={form} family={family} />
        <OptionFields form={form} family={family} required={false} />
        <Stack gap="sm">
          <Group>
            <Action
              icon="bolt"
              label="Test the connection"
              onClick={() => tested.mutate()}
              loading={tested.isPending}
            />
          </Group>
          <ConnectionTest isTesting={tested.isPending} result={tested.data} fault={testFault} />
        </Stack>
        <Offers family={family} />
        <Heading>More</Heading>
        <MoreFields form={form} family={family} />
        {children}
        <FormFault fault={fault} />
        <FormButtons busy={busy} onCancel={onCancel} submitLabel={isNew ? 'Add the upstream' : 'Save'} />
      </Stack>
    </form>
  );
}

function aboutAddress({ baseUrl, needsAddress, kind }: FamilyFacts): string {
  if (needsAddress) return 'Where yours is, such as https://name.example.com.';
  if (kind === 'own-server') return 'Where your server listens, as the gateway reaches it.';
  if (kind === 'cloud') return `Left empty: ${baseUrl ?? ''}`;
  return 'As it is, unless you use another address of the same service.';
}

function Offers({ family: { offers } }: { readonly family: FamilyFacts }) {
  const own = offers.filter(({ label }) => label === 'openai');
  const ways = [...new Set(own.map(({ way }) => way))];
  return (
    <Stack gap={2} component="section" aria-label="What it serves">
      <Text size="sm" fw={500}>
        What it serves
      </Text>
      {ways.map((way) => (
        <Muted key={way}>
          {own
            .filter((offer) => offer.way === way)
            .map(({ operation }) => operation)
            .join(', ')}
          : {wayWords[way]}
        </Muted>
      ))}
    </Stack>
  );
}

interface OptionFieldsProps {
  readonly form: UseFormReturnType<UpstreamValues>;
  readonly family: FamilyFacts;
  /** Whether to show the required options, or else the optional ones. */
  readonly required: boolean;
}

const OptionFields = ({ form, family, required }: OptionFieldsProps) =>
  family.options
    .filter((option) => option.required === required)
    .map((option) => <OptionField key={option.name} form={form} option={option} />);

function OptionField({ form, option }: { readonly form: OptionFieldsProps['form']; readonly option: FamilyOption }) {
  const { name, description, values, form: wanted, default: standard, required } = option;
  const common = {
    ...form.getInputProps(`options.${name}`),
    label: toLabel(name),
    description: plain(description),
    withAsterisk: required,
  };
  if (values !== null) {
    return <Select {...common} data={values} allowDeselect={false} checkIconPosition="right" />;
  }
  return <TextInput {...common} placeholder={wanted ?? standard ?? ''} autoComplete="off" spellCheck={false} />;
}

/** A label from a name: `max_items` becomes "Max items". */
function toLabel(name: string): string {
  const text = name.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
