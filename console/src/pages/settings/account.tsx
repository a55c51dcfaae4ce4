/** Oneself: name, password, passkeys, and where one is signed in. */

import { Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { Member } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { putSession, sessionQuery, useMember } from '../../parts/api/session.ts';
import { notifyDone } from '../../parts/dialogs/undo.tsx';
import { FormFault } from '../../parts/forms/form-fault.tsx';
import { NewPassword } from '../../parts/forms/new-password.tsx';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { roleWords } from '../../parts/session/role.tsx';
import { OwnSessions } from './own-sessions.tsx';
import { Passkeys } from './passkeys.tsx';
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
          <Text size="xs" c="dimmed">
            Nobody can look it up, not even an owner.
          </Text>
          <Button type="submit" variant="default" loading={busy}>
            {member.hasPassword ? 'Change it' : 'Set it'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
