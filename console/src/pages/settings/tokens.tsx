/** Lists and makes API tokens, for programs that use the admin API. */

import { Button, Select, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { type ApiToken, type MadeApiToken, type Role, roles } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { useConfirm } from '../../parts/dialogs/confirm.tsx';
import { notifyDone, notifyFailed } from '../../parts/dialogs/undo.tsx';
import { FormDialog } from '../../parts/forms/form-dialog.tsx';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { Action } from '../../parts/layout/button.tsx';
import { Empty, Failed, Loading } from '../../parts/layout/state.tsx';
import { DataTable } from '../../parts/layout/table.tsx';
import { Remark } from '../../parts/layout/text.tsx';
import { StatusBadge } from '../../parts/marks/status.tsx';
import { roleWords, useRole } from '../../parts/session/role.tsx';
import { Snippet } from '../../parts/snippets/copy.tsx';
import { When } from '../../parts/words/numbers.tsx';
import { Section, ShownOnce } from './section.tsx';

const tokensKey = ['tokens'];

export function Tokens() {
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<MadeApiToken>();
  const { data, error, refetch } = useQuery({
    queryKey: tokensKey,
    queryFn: ({ signal }) => ask('GET /api/tokens', { signal }),
  });
  return (
    <Section
      title="API tokens"
      about="For scripts and tools that use the admin API. They cannot call models: that takes a key."
      action={<Action icon="plus" label="Make a token" variant="filled" onClick={() => setMaking(true)} />}
    >
      {error !== null && <Failed error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Loading rows={2} />}
      {data !== undefined && (data.items.length === 0 ? <None /> : <TokenTable items={data.items} />)}
      {making && (
        <MakeToken
          onClose={() => setMaking(false)}
          onMade={(token) => {
            setMaking(false);
            setMade(token);
          }}
        />
      )}
      {made !== undefined && (
        <ShownOnce
          title={`The token ${made.token.name}`}
          about="This is the secret. It is shown only now: put it where your other secrets are."
          text={made.secret}
          copyLabel="Copy the token"
          onClose={() => setMade(undefined)}
        >
          <Snippet
            language="curl"
            code={`curl ${location.origin}/api/models -H "Authorization: Bearer $POSTERN_TOKEN"`}
          />
        </ShownOnce>
      )}
    </Section>
  );
}

const None = () => (
  <Empty icon="keys" title="No tokens yet">
    A token lets a program do what you may, or less: keep models in step with a repository, read usage into your own
    reports, rotate keys from a pipeline.
  </Empty>
);

function TokenTable({ items }: { readonly items: readonly ApiToken[] }) {
  const queries = useQueryClient();
  const confirm = useConfirm();
  const { mutate } = useMutation({
    mutationFn: ({ id }: ApiToken) => ask('DELETE /api/tokens/:id', { params: { id } }),
    onSuccess: (_, { name }) => notifyDone(`The token ${name} is revoked.`),
    onError: notifyFailed,
    onSettled: () => queries.invalidateQueries({ queryKey: tokensKey }),
  });

  async function revoke(token: ApiToken): Promise<void> {
    const yes = await confirm({
      title: `Revoke ${token.name}?`,
      body: 'Whatever uses it is refused from now on. This cannot be undone.',
      confirm: 'Revoke',
      danger: true,
    });
    if (yes) mutate(token);
  }

  return (
    <DataTable
      verticalSpacing="sm"
      stacks
      columns={[
        'Token',
        'Role',
        { title: 'Last used', className: 'one-line' },
        { title: 'Ends', className: 'one-line' },
        { title: 'Revoke', isHidden: true, ta: 'right' },
      ]}
      rows={items.map((token) => ({
        id: token.id,
        cells: [
          <Stack key="token" gap={0}>
            <Text size="sm" fw={600} className="breaks">
              {token.name}
            </Text>
            <Remark>
              {token.hint} of {token.memberName}
            </Remark>
          </Stack>,
          token.role,
          <When key="used" at={token.lastUsedAt} />,
          token.expiresAt === null ? 'No end' : <When key="until" at={token.expiresAt} />,
          token.revokedAt === null ? (
            <Button
              key="revoke"
              size="xs"
              variant="default"
              aria-label={`Revoke ${token.name}`}
              onClick={() => void revoke(token)}
            >
              Revoke
            </Button>
          ) : (
            <StatusBadge key="revoked" state="revoked" />
          ),
        ],
      }))}
    />
  );
}

const dayMs = 86_400_000;
const spans = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'a year' },
  { value: '', label: 'no end' },
];

function MakeToken({ onClose, onMade }: { onClose(): void; onMade(made: MadeApiToken): void }) {
  const own = useRole() ?? 'viewer';
  const queries = useQueryClient();
  // The idempotency key stays the same for a retry after a lost answer.
  const once = useRef(crypto.randomUUID?.() ?? String(Math.random()));
  const { form, ...api } = useApiForm({
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
    <FormDialog api={api} title="Make a token" submitLabel="Make it" onClose={onClose}>
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
