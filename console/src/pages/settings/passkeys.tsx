/** One's own passkeys: added with the device at hand, given names, and removed. */

import { ActionIcon, Button, Table, Text, TextInput, VisuallyHidden } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Passkey } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { useConfirm } from '../../parts/dialogs/confirm.tsx';
import { notifyDone, notifyFailed } from '../../parts/dialogs/undo.tsx';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { When } from '../../parts/words/numbers.tsx';
import { FormDialog } from './form-dialog.tsx';
import { Section } from './section.tsx';

const queryKey = ['me', 'passkeys'];

export function Passkeys() {
  const [adding, setAdding] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => ask('GET /api/me/passkeys', { signal }),
  });
  return (
    <Section
      title="Passkeys"
      about="Sign in with your fingerprint, your face or a security key. Nothing that could be stolen is kept here."
      action={
        <Button
          variant="default"
          leftSection={<Icon name="passkey" size={16} />}
          disabled={data?.possible !== true}
          onClick={() => setAdding(true)}
        >
          Add a passkey
        </Button>
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
      {data !== undefined && <List items={data.items} />}
      {adding && <AddPasskey onClose={() => setAdding(false)} />}
    </Section>
  );
}

function List({ items }: { readonly items: readonly Passkey[] }) {
  const queries = useQueryClient();
  const confirm = useConfirm();
  const { mutate } = useMutation({
    mutationFn: ({ id }: Passkey) => ask('DELETE /api/me/passkeys/:id', { params: { id } }),
    onSuccess: () => notifyDone('The passkey is removed.'),
    onError: notifyFailed,
    onSettled: () => queries.invalidateQueries({ queryKey }),
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
    <div className="settings-table">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Name</Table.Th>
            <Table.Th scope="col">Added</Table.Th>
            <Table.Th scope="col">Last used</Table.Th>
            <Table.Th scope="col">
              <VisuallyHidden>Remove</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((passkey) => (
            <Table.Tr key={passkey.id}>
              <Table.Td>{passkey.name}</Table.Td>
              <Table.Td>
                <When at={passkey.createdAt} />
              </Table.Td>
              <Table.Td>
                <When at={passkey.lastUsedAt} />
              </Table.Td>
              <Table.Td ta="right">
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={`Remove ${passkey.name}`}
                  onClick={() => void remove(passkey)}
                >
                  <Icon name="trash" size={16} />
                </ActionIcon>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

function AddPasskey({ onClose }: { onClose(): void }) {
  const queries = useQueryClient();
  const { form, ...dialog } = useApiForm({
    initialValues: { name: '' },
    submit: ({ name }) => add(name),
    onDone: () => {
      void queries.invalidateQueries({ queryKey });
      notifyDone('The passkey is added; you can sign in with it from now on.');
      onClose();
    },
  });
  return (
    <FormDialog title="Add a passkey" submitLabel="Go on" onClose={onClose} {...dialog}>
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
