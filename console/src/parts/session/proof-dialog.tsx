/** Shows the re-authentication dialog: password, passkey, or a new sign-in at the identity provider. */

import { Button, Divider, Group, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Member, Session } from '../../../../src/admin/contract.ts';
import { ask } from '../api/client.ts';
import { putSession, useSession } from '../api/session.ts';
import { useEscapeAbove } from '../dialogs/escape.ts';
import { FormFault } from '../forms/form-fault.tsx';
import { useApiForm } from '../forms/use-api-form.ts';
import { toMessage } from '../layout/state.tsx';
import { Icon } from '../marks/icon.tsx';
import { type ProofNews, proofChannel, providerPath } from './proof-channel.ts';
import { canHavePasskeys, PasskeyButton } from './sign-in-form.tsx';

/** Stacking order above that of other dialogs: they may ask for re-authentication, and a session may end while they are open. */
const aboveDialogs = 300;

export default function ProofDialog({ onAnswer }: { onAnswer(proved: boolean): void }) {
  const session = useSession();
  const queries = useQueryClient();
  useEscapeAbove(true, () => onAnswer(false));
  if (session?.member === undefined || session.member === null) return null;
  const { member, signIn } = session;
  const onProved = (proved: Session): void => {
    putSession(queries, proved);
    onAnswer(true);
  };
  const withPasskey = member.passkeys > 0 && canHavePasskeys();
  const provider = member.hasIdentityProvider ? signIn.oidc : null;
  const ways = [member.hasPassword, withPasskey, provider !== null].filter(Boolean).length;
  return (
    <Modal
      opened
      onClose={() => onAnswer(false)}
      closeOnEscape={false}
      title="Is it you?"
      centered
      zIndex={aboveDialogs}
      closeButtonProps={{ 'aria-label': 'Cancel' }}
    >
      <Stack>
        <Text size="sm">
          What you are about to do changes who may get in, so it takes proof that it is you, {member.name}. It holds for
          five minutes.
        </Text>
        {member.hasPassword && <PasswordProof member={member} onProved={onProved} />}
        {member.hasPassword && ways > 1 && <Divider label="or" />}
        {withPasskey && <PasskeyButton at="/api/me/proof/passkey" onDone={onProved} />}
        {provider !== null && <ProviderProof title={provider.title} onProved={onProved} />}
        {ways === 0 && <NoWay />}
        <Group justify="flex-end">
          <Button variant="default" onClick={() => onAnswer(false)}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

interface WayProps {
  onProved(session: Session): void;
}

function PasswordProof({ member, onProved }: WayProps & { readonly member: Member }) {
  const { form, fault, busy, onSubmit } = useApiForm({
    initialValues: { password: '' },
    submit: (body) => ask('POST /api/me/proof', { body }),
    onDone: onProved,
  });
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack gap="md">
        <FormFault fault={fault} />
        <input type="email" value={member.email} autoComplete="username" readOnly hidden />
        <PasswordInput
          label="Your password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          data-autofocus
          {...form.getInputProps('password')}
        />
        <Button type="submit" loading={busy} fullWidth>
          Go on
        </Button>
      </Stack>
    </form>
  );
}

/** Re-authenticates at the identity provider, in a separate window, so that nothing on this page is lost. */
function ProviderProof({ title, onProved }: WayProps & { readonly title: string }) {
  const [fault, setFault] = useState<string>();
  useEffect(() => {
    const channel = proofChannel();
    channel.onmessage = ({ data }: MessageEvent<ProofNews>) => {
      setFault(data.problem);
      if (data.problem !== undefined) return;
      ask('GET /api/session')
        .then(onProved)
        .catch((error: unknown) => setFault(toMessage(error)));
    };
    return () => channel.close();
  }, [onProved]);
  const open = (): void => {
    setFault(undefined);
    // If the browser blocks the window, this page goes there.
    if (window.open(providerPath, '_blank', 'popup,width=520,height=720') === null) location.assign(providerPath);
  };
  return (
    <Stack gap="xs">
      <FormFault fault={fault} />
      <Button variant="default" leftSection={<Icon name="shield" size={16} />} onClick={open} fullWidth>
        Sign in anew with {title}
      </Button>
    </Stack>
  );
}

const NoWay = () => (
  <Text size="sm">
    There is no way to prove it here: you have no password, and no passkey that works on this address. Another owner, or
    <code> postern members reset </code> on the machine of the gateway, makes a link with which you set a password.
  </Text>
);
