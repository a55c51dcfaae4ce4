/** Shows the page of a one-time link, which accepts an invitation or sets a new password. */

import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { LookedUpLink } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { FormFault, NewPassword } from '../../parts/forms/form-fault.tsx';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { Muted, Tag } from '../../parts/layout/text.tsx';
import { roleWords } from '../../parts/session/role.tsx';
import { Entrance } from './entrance.tsx';
import { goHome, useLinkToken } from './link-token.ts';

export function Invitation() {
  const token = useLinkToken();
  const { data, error, refetch } = useQuery({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) => ask('POST /api/invitations/look', { body: { token: token ?? '' }, signal }),
    enabled: token !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (token === undefined) {
    return (
      <Entrance title="This link is not whole">
        <Text size="sm">
          Copy it once more from where you got it: it ends in <code>#token=</code> and some letters.
        </Text>
      </Entrance>
    );
  }
  if (data?.kind === 'reset') return <OtherPassword token={token} email={data.email ?? ''} />;
  if (data !== undefined) return <Join token={token} invited={data} />;
  return (
    <Entrance title="Your link">
      {error === null ? <Loading rows={4} rowHeight={36} /> : <Failed error={error} onRetry={() => void refetch()} />}
    </Entrance>
  );
}

function Join({ token, invited }: { readonly token: string; readonly invited: LookedUpLink }) {
  const { form, fault, busy, onSubmit } = useApiForm({
    initialValues: { name: '', password: '' },
    draftKey: 'invitation',
    secrets: ['password'],
    submit: (values) => ask('POST /api/invitations/accept', { body: { token, ...values } }),
    onDone: goHome,
  });
  return (
    <Entrance title="You are invited">
      <Group gap="xs">
        <Tag>{invited.role}</Tag>
        <Muted>{roleWords[invited.role]}</Muted>
      </Group>
      <form onSubmit={onSubmit} noValidate>
        <Stack gap="md">
          <FormFault fault={fault} />
          <Email value={invited.email ?? ''} />
          <TextInput
            label="Your name"
            autoComplete="name"
            required
            withAsterisk={false}
            autoFocus
            {...form.getInputProps('name')}
          />
          <NewPassword withAsterisk={false} {...form.getInputProps('password')} value={form.values.password} />
          <Button type="submit" loading={busy} fullWidth>
            Join
          </Button>
        </Stack>
      </form>
    </Entrance>
  );
}

function OtherPassword({ token, email }: { readonly token: string; readonly email: string }) {
  const { form, fault, busy, onSubmit } = useApiForm({
    initialValues: { password: '' },
    submit: (values) => ask('POST /api/invitations/accept', { body: { token, ...values } }),
    onDone: goHome,
  });
  return (
    <Entrance
      title="Choose another password"
      about="You are signed in with it at once, and signed out everywhere else."
    >
      <form onSubmit={onSubmit} noValidate>
        <Stack gap="md">
          <FormFault fault={fault} />
          <Email value={email} />
          <NewPassword
            label="New password"
            withAsterisk={false}
            autoFocus
            {...form.getInputProps('password')}
            value={form.values.password}
          />
          <Button type="submit" loading={busy} fullWidth>
            Use this password
          </Button>
        </Stack>
      </form>
    </Entrance>
  );
}

/** Shows the e-mail address, read-only, so that the browser saves the password under this name. */
const Email = ({ value }: { readonly value: string }) => (
  <TextInput label="Email" type="email" autoComplete="username" value={value} readOnly />
);

/** The first step of the set-up: makes the first owner, with the link that the first start printed. */
export function FirstOwner({ token }: { readonly token: string }) {
  const { form, fault, busy, onSubmit } = useApiForm({
    initialValues: { name: '', email: '', password: '' },
    draftKey: 'set-up',
    secrets: ['password'],
    submit: (values) => ask('POST /api/setup', { body: { token, ...values } }),
    onDone: () => location.replace('/setup'),
  });
  return (
    <Entrance
      title="Set up: your account"
      about="Step 1 of 5. You become the owner: you see and change everything, and can invite others."
    >
      <form onSubmit={onSubmit} noValidate>
        <Stack gap="md">
          <FormFault fault={fault} />
          <TextInput
            label="Your name"
            autoComplete="name"
            required
            withAsterisk={false}
            autoFocus
            {...form.getInputProps('name')}
          />
          <TextInput
            label="Email"
            type="email"
            autoComplete="username"
            description="You sign in with it; nothing is sent to it."
            required
            withAsterisk={false}
            {...form.getInputProps('email')}
          />
          <NewPassword withAsterisk={false} {...form.getInputProps('password')} value={form.values.password} />
          <Button type="submit" loading={busy} fullWidth>
            Become the owner
          </Button>
        </Stack>
      </form>
    </Entrance>
  );
}
