/** Makes a link with which a member sets another password, and says what of theirs goes on working. */

import { Button, Checkbox, Group, Modal, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import type { MadeLink, Member } from '../../../../src/admin/contract.ts';
import { ask } from '../../api/client.ts';
import { FormFault } from '../../parts/form-fault.tsx';
import { useApiForm } from '../../parts/use-api-form.ts';
import { useFocusReturn } from '../../parts/use-focus-return.ts';
import { membersKey } from './members-key.ts';

interface ResetMemberProps {
  readonly member: Member;
  onClose(): void;
  onMade(link: MadeLink): void;
}

export function ResetMember({ member, onClose, onMade }: ResetMemberProps) {
  useFocusReturn();
  const queries = useQueryClient();
  // The same for a second try after an answer that was lost.
  const once = useRef(crypto.randomUUID?.() ?? String(Math.random()));
  const { form, fault, busy, onSubmit } = useApiForm({
    initialValues: { tokens: false, passkeys: false },
    submit: ({ tokens, passkeys }) =>
      ask<MadeLink>(`/api/members/${member.id}/reset`, {
        method: 'POST',
        headers: { 'idempotency-key': once.current },
        body: { keep: [...(tokens ? ['tokens'] : []), ...(passkeys ? ['passkeys'] : [])] },
      }),
    onDone: (made) => {
      void queries.invalidateQueries({ queryKey: membersKey });
      onMade(made);
    },
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Another password for ${member.name}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={onSubmit} noValidate>
        <Stack>
          <FormFault fault={fault} />
          <Text size="sm">
            {member.email} gets a link. API tokens and passkeys end now; password and sessions when the link is used.
            Who must be out at once is kept from signing in first.
          </Text>
          <Checkbox label="API tokens go on working" {...form.getInputProps('tokens', { type: 'checkbox' })} />
          <Checkbox label="Passkeys go on working" {...form.getInputProps('passkeys', { type: 'checkbox' })} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={busy}>
              Make a link
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
