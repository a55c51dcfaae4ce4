/** Makes a link with which a member sets another password, and says what of theirs goes on working. */

import { Checkbox, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import type { MadeLink, Member } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { FormDialog } from './form-dialog.tsx';
import { membersKey } from './members-key.ts';

interface ResetMemberProps {
  readonly member: Member;
  onClose(): void;
  onMade(link: MadeLink): void;
}

export function ResetMember({ member, onClose, onMade }: ResetMemberProps) {
  const queries = useQueryClient();
  // The same for a second try after an answer that was lost.
  const once = useRef(crypto.randomUUID?.() ?? String(Math.random()));
  const { form, ...dialog } = useApiForm({
    initialValues: { tokens: false, passkeys: false },
    submit: ({ tokens, passkeys }) =>
      ask('POST /api/members/:id/reset', {
        params: { id: member.id },
        headers: { 'idempotency-key': once.current },
        body: { keep: [...(tokens ? ['tokens'] : []), ...(passkeys ? ['passkeys'] : [])] },
      }),
    onDone: (made) => {
      void queries.invalidateQueries({ queryKey: membersKey });
      onMade(made);
    },
  });
  return (
    <FormDialog title={`Another password for ${member.name}`} submitLabel="Make a link" onClose={onClose} {...dialog}>
      <Text size="sm">
        {member.email} gets a link. API tokens and passkeys end now; password and sessions when the link is used. Who
        must be out at once is kept from signing in first.
      </Text>
      <Checkbox label="API tokens go on working" {...form.getInputProps('tokens', { type: 'checkbox' })} />
      <Checkbox label="Passkeys go on working" {...form.getInputProps('passkeys', { type: 'checkbox' })} />
    </FormDialog>
  );
}
