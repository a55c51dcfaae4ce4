/** Makes an API token: what it is for, what it may, and until when. */

import { Select, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import type { MadeApiToken, Role } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { roleWords, useRole } from '../../parts/session/role.tsx';
import { FormDialog } from './form-dialog.tsx';
import { tokensKey } from './tokens-key.ts';

const roles: readonly Role[] = ['viewer', 'editor', 'admin', 'owner'];
const dayMs = 86_400_000;
const spans = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'a year' },
  { value: '', label: 'until it is revoked' },
];

interface MakeTokenProps {
  onClose(): void;
  onMade(made: MadeApiToken): void;
}

export function MakeToken({ onClose, onMade }: MakeTokenProps) {
  const own = useRole() ?? 'viewer';
  const queries = useQueryClient();
  // The same for a second try after an answer that was lost.
  const once = useRef(crypto.randomUUID?.() ?? String(Math.random()));
  const { form, ...dialog } = useApiForm({
    initialValues: { name: '', role: 'viewer' as Role, days: '90' },
    draftKey: 'make-token',
    submit: ({ name, role, days }) =>
      ask('POST /api/tokens', {
        headers: { 'idempotency-key': once.current },
        body: { name, role, expiresAt: days === '' ? null : new Date(Date.now() + Number(days) * dayMs).toISOString() },
      }),
    onDone: (made) => {
      void queries.invalidateQueries({ queryKey: tokensKey });
      onMade(made);
    },
    toField: (path) => (path === 'expiresAt' ? 'days' : path),
  });
  const possible = roles.slice(0, roles.indexOf(own) + 1);
  return (
    <FormDialog title="Make a token" submitLabel="Make it" closeOnClickOutside={false} onClose={onClose} {...dialog}>
      <TextInput
        label="Name"
        description="What uses it."
        placeholder="nightly report"
        required
        data-autofocus
        {...form.getInputProps('name')}
      />
      <Select
        label="Role"
        description={roleWords[form.values.role]}
        data={possible.map((role) => ({ value: role, label: role }))}
        allowDeselect={false}
        {...form.getInputProps('role')}
      />
      <Select label="Good for" data={spans} allowDeselect={false} {...form.getInputProps('days')} />
    </FormDialog>
  );
}
