/** Invites somebody: an address, a role, and a link to hand over. */

import { Radio, Stack, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { MadeLink, Role } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { roleWords } from '../../parts/session/role.tsx';
import { FormDialog } from './form-dialog.tsx';
import { membersKey } from './members-key.ts';

const roles: readonly Role[] = ['viewer', 'editor', 'admin', 'owner'];

interface InviteMemberProps {
  onClose(): void;
  onMade(made: MadeLink, email: string): void;
}

export function InviteMember({ onClose, onMade }: InviteMemberProps) {
  const queries = useQueryClient();
  const { form, ...dialog } = useApiForm({
    initialValues: { email: '', role: 'viewer' as Role },
    draftKey: 'invite-member',
    submit: (values) => ask('POST /api/members', { body: values }),
    onDone: (made, { email }) => {
      void queries.invalidateQueries({ queryKey: membersKey });
      onMade(made, email);
    },
  });
  return (
    <FormDialog
      title="Invite somebody"
      submitLabel="Make a link"
      closeOnClickOutside={false}
      onClose={onClose}
      {...dialog}
    >
      <TextInput label="E-mail address" type="email" required data-autofocus {...form.getInputProps('email')} />
      <Radio.Group label="Role" {...form.getInputProps('role')}>
        <Stack gap="xs" mt={6}>
          {roles.map((role) => (
            <Radio key={role} value={role} label={role} description={roleWords[role]} />
          ))}
        </Stack>
      </Radio.Group>
    </FormDialog>
  );
}
