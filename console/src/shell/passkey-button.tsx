/** Signs in with a passkey; what speaks with the browser about it is loaded when it is asked for. */

import { Button, Stack } from '@mantine/core';
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Session } from '../../../src/admin/contract.ts';
import { ask } from '../api/client.ts';
import { putSession } from '../api/session.ts';
import { FormFault } from '../parts/form-fault.tsx';
import { Icon } from '../parts/icon.tsx';
import { toMessage } from '../parts/state.tsx';

export function PasskeyButton() {
  const queries = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: signIn,
    onSuccess: (session) => putSession(queries, session),
  });
  return (
    <Stack gap="xs">
      <FormFault fault={error === null ? undefined : toFault(error)} />
      <Button
        variant="default"
        leftSection={<Icon name="passkey" size={16} />}
        loading={isPending}
        onClick={() => mutate()}
        fullWidth
      >
        Use a passkey
      </Button>
    </Stack>
  );
}

async function signIn(): Promise<Session> {
  const { startAuthentication } = await import('@simplewebauthn/browser');
  const optionsJSON = await ask<PublicKeyCredentialRequestOptionsJSON>('/api/session/passkey/options', {
    method: 'POST',
    body: {},
  });
  const body = await startAuthentication({ optionsJSON });
  return ask<Session>('/api/session/passkey', { method: 'POST', body });
}

function toFault(error: Error): string {
  // What browsers say when the person pressed Cancel, or nothing was chosen.
  if (error.name === 'NotAllowedError') return 'No passkey was used. Try again, or sign in another way.';
  return toMessage(error);
}
