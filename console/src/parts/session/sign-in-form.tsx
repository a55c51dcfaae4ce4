/** The ways to sign in: by password, by passkey, through the team's own identity provider. */

import { Button, Divider, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { Session } from '../../../../src/admin/contract.ts';
import { toAddress } from '../api/asking.ts';
import { ask } from '../api/client.ts';
import { putSession } from '../api/session.ts';
import { FormFault } from '../forms/form-fault.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { Icon } from '../marks/icon.tsx';
import { canHavePasskeys, PasskeyButton } from './passkey-button.tsx';

interface SignInFormProps {
  readonly ways: Session['signIn'];
  /** Who was signed in, where a session has ended. */
  readonly email?: string;
}

export function SignInForm({ ways, email }: SignInFormProps) {
  const queries = useQueryClient();
  const { form, fault, busy, onSubmit } = useApiForm({
    initialValues: { email: email ?? '', password: '' },
    submit: (values) => ask('POST /api/session', { body: values }),
    onDone: (session) => putSession(queries, session),
  });
  const withPasskey = ways.passkey && canHavePasskeys();
  const others = withPasskey || ways.oidc !== null;
  return (
    <Stack gap="md">
      {ways.password && (
        <form onSubmit={onSubmit} noValidate>
          <Stack gap="md">
            <FormFault fault={fault} />
            <TextInput
              label="Email"
              type="email"
              autoComplete="username webauthn"
              readOnly={email !== undefined}
              required
              withAsterisk={false}
              {...(email === undefined ? { autoFocus: true } : {})}
              {...form.getInputProps('email')}
            />
            <PasswordInput
              label="Password"
              autoComplete="current-password"
              required
              withAsterisk={false}
              {...(email === undefined ? {} : { 'data-autofocus': true })}
              {...form.getInputProps('password')}
            />
            <Button type="submit" loading={busy} fullWidth>
              Sign in
            </Button>
          </Stack>
        </form>
      )}
      {ways.password && others && <Divider label="or" />}
      {withPasskey && <PasskeyButton at="/api/session/passkey" onDone={(session) => putSession(queries, session)} />}
      {ways.oidc !== null && <ProviderButton title={ways.oidc.title} />}
    </Stack>
  );
}

export function ProviderButton({ title }: { readonly title: string }) {
  return (
    <Button component="a" href={oidcPath()} variant="default" leftSection={<Icon name="shield" size={16} />} fullWidth>
      Sign in with {title}
    </Button>
  );
}

/** Back to this page afterwards: what was typed there is kept as a draft. */
const oidcPath = (): string =>
  toAddress('GET /api/session/oidc', { query: { page: location.pathname + location.search } });
