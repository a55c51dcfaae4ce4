/** Shows the upstream step of the set-up: family, address and key, tested before saving. */

import { Anchor, Button, Group, PasswordInput, Select, SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { FamilyFacts, FamilyOption, UpstreamTest } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { freeName, useFamilies } from '../../parts/api/families.ts';
import { ConnectionTest } from '../../parts/forms/connection-test.tsx';
import { toDocument } from '../../parts/forms/documents.ts';
import { FormFault } from '../../parts/forms/form-fault.tsx';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { Muted, Remark } from '../../parts/layout/text.tsx';
import { kinds, kindWords } from '../../parts/words/labels.ts';

interface FirstUpstreamProps {
  readonly taken: readonly string[];
  /** An alternative to the form. */
  readonly children: ReactNode;
  onAdded(id: string): void;
}

export function FirstUpstream({ taken, children, onAdded }: FirstUpstreamProps) {
  const { data, error, refetch } = useFamilies();
  const [id, setId] = useState<string | null>(null);
  if (data === undefined) {
    return error === null ? <Loading rows={2} /> : <Failed error={error} onRetry={() => void refetch()} />;
  }
  const family = data.find((one) => one.id === id);
  const groups = kinds
    .filter((kind) => kind !== 'built-in')
    .map((kind) => ({
      group: kindWords[kind].title,
      items: data
        .filter((one) => one.kind === kind)
        .toSorted((a, b) => a.title.localeCompare(b.title))
        .map((one) => ({ value: one.id, label: one.title })),
    }));
  return (
    <Stack gap="sm">
      <Select
        label="What kind of service is it?"
        description="Choose OpenAI and compatible services for any service with OpenAI's wire format that has no entry of its own."
        placeholder="Choose, or type a name"
        data={groups}
        value={id}
        onChange={setId}
        searchable
        allowDeselect={false}
        nothingFoundMessage="None has that in its name: take OpenAI and compatible services."
      />
      {family === undefined ? (
        <Group gap="xs">{children}</Group>
      ) : (
        <Fields key={family.id} family={family} taken={taken} onAdded={onAdded} />
      )}
    </Stack>
  );
}

interface Values {
  id: string;
  base_url: string;
  api_key: string;
  options: Record<string, string>;
}

interface FieldsProps extends Pick<FirstUpstreamProps, 'taken' | 'onAdded'> {
  readonly family: FamilyFacts;
}

/** Only required fields; all others keep their defaults, and can be changed on the upstream's page. */
function Fields({ family, taken, onAdded }: FieldsProps) {
  const [tested, setTested] = useState<UpstreamTest>();
  const options = family.options.filter(({ required }) => required);
  const fields = [
    { path: 'id' },
    { path: 'base_url', empty: family.baseUrl ?? '' },
    { path: 'api_key' },
    ...options.map(({ name }) => ({ path: `options.${name}` })),
  ];
  const { form, fault, busy, onSubmit } = useApiForm<Values, string | undefined>({
    initialValues: {
      id: freeName(family.id, taken),
      base_url: family.baseUrl?.includes('{') === false ? family.baseUrl : '',
      api_key: '',
      options: Object.fromEntries(options.map(({ name, default: standard }) => [name, standard ?? ''])),
    },
    async submit(values) {
      const document = toDocument({ ...values, family: family.id }, fields);
      const id = values.id.trim();
      // A second attempt without changes saves it despite the failed test.
      const isSeen = tested?.ok === false && !form.isDirty();
      if (!isSeen) {
        setTested(undefined);
        const result = await ask('POST /api/upstreams/test', { body: { id, document } });
        setTested(result);
        form.resetDirty();
        if (!result.ok) return undefined;
      }
      await ask('PUT /api/upstreams/:id', { params: { id }, body: document, headers: { 'if-none-match': '*' } });
      return id;
    },
    toField: (path) => (path.startsWith('credentials') ? 'api_key' : path),
    onDone: (id) => id !== undefined && onAdded(id),
  });
  const isRefused = tested?.ok === false && !form.isDirty();
  const key = { autoComplete: 'off', description: 'Sealed in the store; nobody can read it here afterwards.' };
  return (
    <form onSubmit={onSubmit} noValidate autoComplete="off">
      <Stack gap="sm">
        <FormFault fault={fault} />
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
          <TextInput label="Name" autoComplete="off" spellCheck={false} {...form.getInputProps('id')} />
          {(family.needsAddress || family.kind !== 'cloud') && (
            <TextInput
              label="Address"
              type="url"
              placeholder="https://"
              autoComplete="off"
              spellCheck={false}
              {...form.getInputProps('base_url')}
            />
          )}
          {options.map((option) => (
            <Option key={option.name} option={option} input={form.getInputProps(`options.${option.name}`)} />
          ))}
        </SimpleGrid>
        {(family.credential === 'key' || family.credential === 'signed') && (
          <PasswordInput
            label={family.credential === 'key' ? 'API key' : 'API key, or ACCESS_KEY_ID:SECRET_ACCESS_KEY'}
            {...key}
            {...form.getInputProps('api_key')}
          />
        )}
        {family.credential === 'document' && (
          <Textarea
            label="Key file of a service account, or an access token"
            rows={4}
            {...key}
            {...form.getInputProps('api_key')}
          />
        )}
        <ConnectionTest isTesting={busy} result={tested} fault={undefined} />
        <Group justify="space-between" gap="xs">
          <Anchor component={Link} href="/upstreams" size="sm">
            Timeouts, limits and headers are on its own page
          </Anchor>
          <Button type="submit" loading={busy}>
            {isRefused ? 'Add it all the same' : 'Test and add'}
          </Button>
        </Group>
        {isRefused && <Remark>Change something to test it again.</Remark>}
      </Stack>
    </form>
  );
}

interface OptionProps {
  readonly option: FamilyOption;
  readonly input: object;
}

function Option({ option: { name, values, form, description }, input }: OptionProps) {
  const label = name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');
  const about = <Muted component="span">{description.replaceAll('`', '')}</Muted>;
  if (values !== null) return <Select label={label} description={about} data={values} {...input} />;
  return <TextInput label={label} description={about} placeholder={form ?? ''} autoComplete="off" {...input} />;
}
