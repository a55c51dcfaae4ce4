/** Shows the sign-in methods: password, passkey, or the team's identity provider. */

import { Button, Divider, Group, Modal, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { Session } from '../../../../src/admin/contract.ts';
import { toAddress } from '../api/asking.ts';
import { ask, expired, useFlag } from '../api/client.ts';
import { putSession, useSession } from '../api/session.ts';
import { useEscapeAbove } from '../dialogs/escape.ts';
import { FormFault } from '../forms/form-fault.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { Action } from '../layout/button.tsx';
import { toMessage } from '../layout/state.tsx';
import { Icon } from '../marks/icon.tsx';
import { leaveConsole } from './sign-out.ts';

interface SignInFormProps {
  readonly ways: Session['signIn'];
  /** The address of the member whose session has ended. */
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

export const ProviderButton = ({ title }: { readonly title: string }) => (
  <Button component="a" href={oidcPath()} variant="default" leftSection={<Icon name="shield" size={16} />} fullWidth>
    Sign in with {title}
  </Button>
);

/** The URL for signing in at the identity provider, which returns to this page; typed values are kept as a draft. */
const oidcPath = (): string =>
  toAddress('GET /api/session/oidc', { query: { page: location.pathname + location.search } });

interface PasskeyButtonProps {
  /** The endpoint for the answer of the passkey's device; its challenge comes from the path below with `/options`. */
  readonly at: '/api/session/passkey' | '/api/me/proof/passkey';
  onDone(session: Session): void;
}

/** Signs in with a passkey; the WebAuthn code is loaded on demand. */
export function PasskeyButton({ at, onDone }: PasskeyButtonProps) {
  const { mutate, isPending, error } = useMutation({ mutationFn: () => show(at), onSuccess: onDone });
  return (
    <Stack gap="xs">
      <FormFault fault={error === null ? undefined : toFault(error)} />
      <Action icon="passkey" label="Use a passkey" loading={isPending} onClick={() => mutate()} fullWidth />
    </Stack>
  );
}

/** Whether passkeys can be used: browsers bind them to a host name, and do not support them on pages loaded over plain HTTP. */
export const canHavePasskeys = (): boolean => window.isSecureContext && !/^[\d.]+$|^\[/.test(location.hostname);

async function show(at: PasskeyButtonProps['at']): Promise<Session> {
  const { startAuthentication } = await import('@simplewebauthn/browser');
  const optionsJSON = await ask(`POST ${at}/options`);
  const body = await startAuthentication({ optionsJSON });
  return ask(`POST ${at}`, { body });
}

function toFault(error: Error): string {
  // The browser's error if the user cancelled, or chose nothing.
  if (error.name === 'NotAllowedError') return 'No passkey was used. Try again, or take another way.';
  return toMessage(error);
}

/** Asks a member whose session has ended to sign in again, above the page, so that no typed text is lost. */
export function ExpiredSession() {
  const session = useSession();
  const isExpired = useFlag(expired);
  useCatchUp(isExpired);
  useEscapeAbove(isExpired, () => undefined);
  if (session?.member === undefined || session.member === null) return null;
  return (
    <Modal
      opened={isExpired}
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title="Your session has ended"
      centered
      zIndex={1000}
    >
      <Stack>
        <Text size="sm">Sign in again to go on where you were. What you typed is still there.</Text>
        <SignInForm ways={session.signIn} email={session.member.email} />
        <Group justify="center">
          <Button variant="subtle" size="compact-sm" onClick={leaveConsole}>
            Use another account
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** Fetches data again that was refused while the session had ended. */
function useCatchUp(isExpired: boolean): void {
  const queries = useQueryClient();
  const was = useRef(isExpired);
  useEffect(() => {
    if (was.current && !isExpired) void queries.invalidateQueries();
    was.current = isExpired;
  }, [isExpired, queries]);
}
