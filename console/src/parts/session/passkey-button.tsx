/** Signs in with a passkey; what speaks with the browser about it is loaded when it is asked for. */

import { Button, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { Session } from '../../../../src/admin/contract.ts';
import { ask } from '../api/client.ts';
import { FormFault } from '../forms/form-fault.tsx';
import { toMessage } from '../layout/state.tsx';
import { Icon } from '../marks/icon.tsx';

interface PasskeyButtonProps {
  /** Where the device's answer goes; what it has to sign is had from `/options` behind it. */
  readonly at: '/api/session/passkey' | '/api/me/proof/passkey';
  onDone(session: Session): void;
}

export function PasskeyButton({ at, onDone }: PasskeyButtonProps) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => show(at),
    onSuccess: onDone,
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

/** Browsers bind them to a name, and know none on a page that came over plain HTTP from another machine. */
export function canHavePasskeys(): boolean {
  return window.isSecureContext && !/^[\d.]+$|^\[/.test(location.hostname);
}

async function show(at: PasskeyButtonProps['at']): Promise<Session> {
  const { startAuthentication } = await import('@simplewebauthn/browser');
  const optionsJSON = await ask(`POST ${at}/options`);
  const body = await startAuthentication({ optionsJSON });
  return ask(`POST ${at}`, { body });
}

function toFault(error: Error): string {
  // What browsers say when the person pressed Cancel, or nothing was chosen.
  if (error.name === 'NotAllowedError') return 'No passkey was used. Try again, or take another way.';
  return toMessage(error);
}
