/** Shows the signed-in member's own settings: name, password, passkeys and sessions. */

import { Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Member, OwnSession, Passkey } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { putSession, sessionQuery, useMember } from '../../parts/api/session.ts';
import { useConfirm } from '../../parts/dialogs/confirm.tsx';
import { notifyDone, notifyFailed } from '../../parts/dialogs/undo.tsx';
import { FormDialog } from '../../parts/forms/form-dialog.tsx';
import { FormFault, NewPassword } from '../../parts/forms/form-fault.tsx';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { Action, IconButton } from '../../parts/layout/button.tsx';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { DataTable } from '../../parts/layout/table.tsx';
import { Remark, Tag } from '../../parts/layout/text.tsx';
import { roleWords } from '../../parts/session/role.tsx';
import { When } from '../../parts/words/numbers.tsx';
import { Section } from './section.tsx';

export function Account() {
  const member = useMember();
  if (member === undefined) return null;
  return (
    <>
      <Section
        title="You"
        about={`You are signed in as ${member.email}, with the role ${member.role}. ${roleWords[member.role]}`}
      >
        <NameForm member={member} />
      </Section>
      <Section
        title={member.hasPassword ? 'Password' : 'Set a password'}
        about="Another password signs you out everywhere else."
      >
        <PasswordForm member={member} />
      </Section>
      <Passkeys />
      <OwnSessions />
    </>
  );
}

function NameForm({ member }: { readonly member: Member }) {
  const queries = useQueryClient();
  const { form, fault, busy, onSubmit } = useApiForm({
    initialValues: { name: member.name },
    submit: (values) => ask('PATCH /api/me', { body: values }),
    onDone: () => {
      void queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
      notifyDone('Your name is changed.');
    },
  });
  return (
    <form onSubmit={onSubmit} noValidate className="settings-form">
      <FormFault fault={fault} />
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <TextInput label="Name" flex={1} autoComplete="name" {...form.getInputProps('name')} />
        <Button type="submit" variant="default" loading={busy}>
          Save
        </Button>
      </Group>
    </form>
  );
}

function PasswordForm({ member }: { readonly member: Member }) {
  const queries = useQueryClient();
  const { form, fault, busy, onSubmit } = useApiForm({
    initialValues: { current: '', next: '' },
    submit: ({ current, next }) =>
      ask('POST /api/me/password', { body: member.hasPassword ? { current, next } : { next } }),
    onDone: (session) => {
      putSession(queries, session);
      void queries.invalidateQueries({ queryKey: ['me'] });
      form.reset();
      notifyDone('Your password is changed; you are signed out everywhere else.');
    },
  });
  return (
    <form onSubmit={onSubmit} noValidate className="settings-form">
      <Stack gap="sm">
        <FormFault fault={fault} />
        <input type="email" value={member.email} autoComplete="username" readOnly hidden />
        {member.hasPassword && (
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            {...form.getInputProps('current')}
          />
        )}
        <NewPassword label="New password" {...form.getInputProps('next')} value={form.values.next} />
        <Group justify="space-between">
          <Remark>Nobody can look it up, not even an owner.</Remark>
          <Button type="submit" variant="default" loading={busy}>
            {member.hasPassword ? 'Change it' : 'Set it'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

const passkeysKey = ['me', 'passkeys'];

function Passkeys() {
  const [adding, setAdding] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: passkeysKey,
    queryFn: ({ signal }) => ask('GET /api/me/passkeys', { signal }),
  });
  return (
    <Section
      title="Passkeys"
      about="Sign in with your fingerprint, your face or a security key. Nothing that could be stolen is kept here."
      action={
        <Action
          icon="passkey"
          label="Add a passkey"
          disabled={data?.possible !== true}
          onClick={() => setAdding(true)}
        />
      }
    >
      {error !== null && <Failed error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Loading rows={1} />}
      {data?.possible === false && (
        <Text size="sm">
          Browsers bind passkeys to a name, and you opened the console by a number. Open it as http://localhost with its
          port, or have your operator set console.url.
        </Text>
      )}
      {data !== undefined && <PasskeyList items={data.items} />}
      {adding && <AddPasskey onClose={() => setAdding(false)} />}
    </Section>
  );
}

function PasskeyList({ items }: { readonly items: readonly Passkey[] }) {
  const queries = useQueryClient();
  const confirm = useConfirm();
  const { mutate } = useMutation({
    mutationFn: ({ id }: Passkey) => ask('DELETE /api/me/passkeys/:id', { params: { id } }),
    onSuccess: () => notifyDone('The passkey is removed.'),
    onError: notifyFailed,
    onSettled: () => queries.invalidateQueries({ queryKey: passkeysKey }),
  });
  if (items.length === 0) return <Text size="sm">You have none yet.</Text>;

  async function remove(passkey: Passkey): Promise<void> {
    const yes = await confirm({
      title: `Remove ${passkey.name}?`,
      body: 'You can sign in with it no more. Your device may keep its own half; remove it there as well.',
      confirm: 'Remove',
      danger: true,
    });
    if (yes) mutate(passkey);
  }

  return (
    <DataTable
      stacks
      columns={['Name', 'Added', 'Last used', { title: 'Remove', isHidden: true, ta: 'right' }]}
      rows={items.map((passkey) => ({
        id: passkey.id,
        cells: [
          passkey.name,
          <When key="added" at={passkey.createdAt} />,
          <When key="used" at={passkey.lastUsedAt} />,
          <IconButton
            key="remove"
            icon="trash"
            label={`Remove ${passkey.name}`}
            onClick={() => void remove(passkey)}
          />,
        ],
      }))}
    />
  );
}

function AddPasskey({ onClose }: { onClose(): void }) {
  const queries = useQueryClient();
  const { form, ...api } = useApiForm({
    initialValues: { name: '' },
    submit: ({ name }) => add(name),
    onDone: () => {
      void queries.invalidateQueries({ queryKey: passkeysKey });
      notifyDone('The passkey is added; you can sign in with it from now on.');
      onClose();
    },
  });
  return (
    <FormDialog api={api} title="Add a passkey" submitLabel="Go on" onClose={onClose}>
      <TextInput
        label="Name"
        description="By which you know the device."
        placeholder="Laptop"
        required
        data-autofocus
        {...form.getInputProps('name')}
      />
    </FormDialog>
  );
}

async function add(name: string): Promise<void> {
  const { startRegistration } = await import('@simplewebauthn/browser');
  const optionsJSON = await ask('POST /api/me/passkeys/options');
  const answer = await startRegistration({ optionsJSON }).catch((error: unknown) => {
    throw new Error(toFault(error));
  });
  await ask('POST /api/me/passkeys', { body: { name, answer } });
}

function toFault(error: unknown): string {
  const name = error instanceof Error ? error.name : '';
  if (name === 'InvalidStateError') return 'This device has a passkey for this console already.';
  if (name === 'NotAllowedError') return 'No passkey was made. Try again when you are ready.';
  return error instanceof Error ? error.message : 'The browser could not make a passkey.';
}

const sessionsKey = ['me', 'sessions'];

const methods: Readonly<Record<OwnSession['method'], string>> = {
  password: 'by password',
  passkey: 'with a passkey',
  oidc: 'through the identity provider',
  link: 'with a link',
};

function OwnSessions() {
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: sessionsKey,
    queryFn: ({ signal }) => ask('GET /api/me/sessions', { signal }),
  });
  const { mutate, isPending, variables } = useMutation({
    mutationFn: (id: string) => ask('DELETE /api/me/sessions/:id', { params: { id } }),
    onSuccess: () => notifyDone('That session is over.'),
    onError: notifyFailed,
    onSettled: () => queries.invalidateQueries({ queryKey: sessionsKey }),
  });
  return (
    <Section
      title="Where you are signed in"
      about="A session ends after twelve hours without use, and after a week in any case."
    >
      {error !== null && <Failed error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Loading rows={2} rowHeight={48} />}
      <Stack gap="xs">
        {data?.items.map((session) => (
          <Group key={session.id} justify="space-between" wrap="nowrap" gap="sm">
            <Stack gap={0} miw={0}>
              <Group gap="xs">
                <Text size="sm" fw={600}>
                  {toDevice(session.userAgent)}
                </Text>
                {session.current && <Tag>This one</Tag>}
              </Group>
              <Remark>
                {session.address}, {methods[session.method]}, last used <When at={session.lastSeenAt} />
              </Remark>
            </Stack>
            {!session.current && (
              <Button
                size="xs"
                variant="default"
                loading={isPending && variables === session.id}
                onClick={() => mutate(session.id)}
              >
                Sign out there
              </Button>
            )}
          </Group>
        ))}
      </Stack>
    </Section>
  );
}

const systems = ['Windows', 'Android', 'iPhone', 'iPad', 'Mac OS X', 'Linux'] as const;
/** Names of browsers in user agents. The order matters, as each user agent also contains names further down the list. */
const browsers = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari'] as const;
const browserNames: Readonly<Partial<Record<string, string>>> = { Edg: 'Edge', OPR: 'Opera' };

function toDevice(userAgent: string): string {
  const system = systems.find((one) => userAgent.includes(one));
  const browser = browsers.find((one) => userAgent.includes(`${one}/`));
  if (browser === undefined) return userAgent === '' ? 'Unknown device' : userAgent.slice(0, 60);
  const name = browserNames[browser] ?? browser;
  return system === undefined ? name : `${name} on ${system === 'Mac OS X' ? 'macOS' : system}`;
}
