/** Invitations that nobody has taken up yet. */

import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Invitation } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { notifyDone, notifyFailed } from '../../parts/dialogs/undo.tsx';
import { When } from '../../parts/words/numbers.tsx';
import { membersKey } from './members-key.ts';
import { Section } from './section.tsx';

export function Invitations({ items }: { readonly items: readonly Invitation[] }) {
  const queries = useQueryClient();
  const { mutate } = useMutation({
    mutationFn: ({ id }: Invitation) => ask('DELETE /api/invitations/:id', { params: { id } }),
    onSuccess: (_, { email }) => notifyDone(`The invitation of ${email} is taken back.`),
    onError: notifyFailed,
    onSettled: () => queries.invalidateQueries({ queryKey: membersKey }),
  });
  return (
    <Section title="Invited" about="The links themselves are shown once; invite again to have another one.">
      <Stack gap="xs">
        {items.map((invitation) => (
          <Group key={invitation.id} justify="space-between" gap="sm">
            <Stack gap={0}>
              <Text size="sm" className="breaks">
                {invitation.email}, as {invitation.role}
              </Text>
              <Text size="xs" c="dimmed">
                by {invitation.invitedBy}; ends <When at={invitation.expiresAt} />
              </Text>
            </Stack>
            <Button size="xs" variant="default" onClick={() => mutate(invitation)}>
              Take back
            </Button>
          </Group>
        ))}
      </Stack>
    </Section>
  );
}
