/** One upstream at the side: how it is, who uses it, its credentials by name, a test, and the ways to change it. */

import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { UpstreamDetail } from '../../../../src/admin/contract.ts';
import type { Versioned } from '../../parts/api/client.ts';
import { useConfirm } from '../../parts/dialogs/confirm.tsx';
import { notifyDone, notifyFailed } from '../../parts/dialogs/undo.tsx';
import { Action } from '../../parts/layout/button.tsx';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { Heading } from '../../parts/layout/text.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { ConnectionTest } from './connection-test.tsx';
import { EditUpstream } from './edit-upstream.tsx';
import { refreshUpstreams, removeUpstream, testStored, useFamilies, useUpstream } from './upstream-data.ts';
import { UpstreamFacts } from './upstream-facts.tsx';

export function UpstreamDetails({ id, onGone }: { readonly id: string; onGone(): void }) {
  const { data, error, refetch } = useUpstream(id);
  const { data: families } = useFamilies();
  const [editing, setEditing] = useState<Versioned<UpstreamDetail>>();
  if (data === undefined || families === undefined) {
    return error === null ? <Loading rows={8} /> : <Failed error={error} onRetry={() => void refetch()} />;
  }
  const family = families.find((one) => one.id === data.data.family.id);
  if (editing !== undefined && family !== undefined) {
    const stop = (): void => setEditing(undefined);
    return <EditUpstream began={editing} family={family} onDone={stop} onCancel={stop} />;
  }
  return <Shown upstream={data.data} onEdit={() => setEditing(data)} onGone={onGone} />;
}

interface ShownProps {
  readonly upstream: UpstreamDetail;
  onEdit(): void;
  onGone(): void;
}

function Shown({ upstream, onEdit, onGone }: ShownProps) {
  const { id, models } = upstream;
  const tested = useMutation({ mutationFn: () => testStored(id) });
  return (
    <Stack gap="lg">
      <Stack gap="sm">
        <Group gap="xs">
          <Needs role="editor">
            <Action
              icon="bolt"
              label="Test the connection"
              loading={tested.isPending}
              onClick={() => tested.mutate()}
            />
          </Needs>
          <Needs role="editor" hide>
            <Button
              component={Link}
              href={`/models?add=${encodeURIComponent(id)}`}
              variant={models.length === 0 ? 'filled' : 'default'}
              leftSection={<Icon name="models" size={16} />}
            >
              Add its models
            </Button>
          </Needs>
          {upstream.managedBy === 'store' && <Changes upstream={upstream} onEdit={onEdit} onGone={onGone} />}
        </Group>
        <ConnectionTest isTesting={tested.isPending} result={tested.data} error={tested.error} />
      </Stack>
      {models.length === 0 && (
        <Alert variant="light" icon={<Icon name="info" />} title="No model uses it yet">
          Clients ask for models. Add those of its models that they may use.
        </Alert>
      )}
      <UpstreamFacts upstream={upstream} />
      {upstream.managedBy === 'file' && upstream.place !== null && (
        <section aria-label="Where it is declared">
          <Heading>Where it is declared</Heading>
          <Text size="sm" className="breaks">
            In {upstream.place.file}, line {upstream.place.line}. Change it there, and it is in force at once.
          </Text>
        </section>
      )}
    </Stack>
  );
}

function Changes({ upstream: { id, version, models }, onEdit, onGone }: ShownProps) {
  const queries = useQueryClient();
  const confirm = useConfirm();
  const [, navigate] = useLocation();
  const { mutate, isPending } = useMutation({
    mutationFn: () => removeUpstream(id, version ?? 0),
    onSuccess: () => {
      notifyDone(`${id} is deleted.`);
      onGone();
      void refreshUpstreams(queries);
    },
    onError: notifyFailed,
  });
  const remove = async (): Promise<void> => {
    if (models.length === 0) {
      const body =
        'Its credentials go with it. This cannot be undone: to have it again, they have to be written again.';
      if (await confirm({ title: `Delete ${id}?`, body, confirm: 'Delete', danger: true })) mutate();
      return;
    }
    const body = (
      <Stack gap="xs">
        <Text size="sm">These models would have nobody to answer, or one target less:</Text>
        <Text size="sm" component="ul" m={0} className="breaks">
          {models.map((model) => (
            <li key={model}>{model}</li>
          ))}
        </Text>
        <Text size="sm">Give them another target, or delete them first.</Text>
      </Stack>
    );
    if (await confirm({ title: `${id} is still needed`, body, confirm: 'Show these models' })) {
      navigate(`/models?upstream=${encodeURIComponent(id)}`);
    }
  };
  return (
    <>
      <Needs role="admin">
        <Action icon="edit" label="Edit" onClick={onEdit} />
      </Needs>
      <Needs role="admin">
        <Action icon="trash" label="Delete" loading={isPending} onClick={() => void remove()} />
      </Needs>
    </>
  );
}
