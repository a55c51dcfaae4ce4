/** One model, opened: its facts, a try, its form, and taking it out. */

import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ModelDetail } from '../../../../src/admin/contract.ts';
import { ApiError, type Versioned } from '../../parts/api/client.ts';
import { useConfirm } from '../../parts/dialogs/confirm.tsx';
import { notifyDone, notifyFailed } from '../../parts/dialogs/undo.tsx';
import { Empty, Failed, Loading } from '../../parts/layout/state.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { EditModel } from './edit-model.tsx';
import { refreshModels, removeModel, useModel } from './model-data.ts';
import { ModelFacts } from './model-facts.tsx';
import { ModelLists } from './model-lists.tsx';
import { TryModel } from './try-model.tsx';

interface ModelDetailsProps {
  readonly id: string;
  /** It was taken out. */
  onGone(): void;
}

export function ModelDetails({ id, onGone }: ModelDetailsProps) {
  const [isGoing, setGoing] = useState(false);
  const { data, error, refetch } = useModel(id, isGoing);
  // As it was when editing began: what others write meanwhile shows when it is saved.
  const [edited, setEdited] = useState<Versioned<ModelDetail>>();
  if (edited !== undefined) {
    return <EditModel began={edited} onDone={() => setEdited(undefined)} onCancel={() => setEdited(undefined)} />;
  }
  if (data === undefined) {
    if (error === null) return <Loading rows={5} rowHeight={48} />;
    if (error instanceof ApiError && error.code === 'not_found') {
      return (
        <Empty
          icon="models"
          title="There is no such model"
        >{`Nobody knows “${id}”; it may have been taken out.`}</Empty>
      );
    }
    return <Failed error={error} onRetry={() => void refetch()} />;
  }
  const model = data.data;
  return (
    <Stack gap="lg">
      <Managing model={model} onEdit={() => setEdited(data)} onGone={onGone} onGoing={setGoing} />
      <ModelFacts model={model} />
      <ModelLists model={model} />
      <TryModel model={model} />
    </Stack>
  );
}

interface ManagingProps {
  readonly model: ModelDetail;
  onEdit(): void;
  onGone(): void;
  /** It is being taken out. */
  onGoing(isGoing: boolean): void;
}

function Managing({ model, onEdit, onGone, onGoing }: ManagingProps) {
  const { managedBy, place } = model;
  if (managedBy === 'file' || managedBy === 'embedded') {
    return (
      <Alert variant="light" color="gray" icon={<Icon name="file" />} title="Managed by the configuration file">
        {place === null
          ? 'It is part of what Postern starts with. Write a postern.yaml to have it otherwise, or add a model of your own here.'
          : `It is declared in ${place.file}, line ${place.line}. Change it there; the gateway follows at once.`}
      </Alert>
    );
  }
  if (managedBy === 'built-in') {
    return (
      <Alert variant="light" color="gray" icon={<Icon name="info" />} title="It comes with its upstream">
        <Stack gap="xs" align="flex-start">
          <Text size="sm">
            It is declared nowhere, and is there as long as its upstream is. Edit it to have your own in its place; take
            that out again, and it is as it was.
          </Text>
          <EditButton onEdit={onEdit} />
        </Stack>
      </Alert>
    );
  }
  return (
    <Group gap="xs">
      <EditButton onEdit={onEdit} />
      <Needs role="editor">
        <DeleteButton model={model} onGone={onGone} onGoing={onGoing} />
      </Needs>
    </Group>
  );
}

function EditButton({ onEdit }: { onEdit(): void }) {
  return (
    <Needs role="editor">
      <Button variant="default" leftSection={<Icon name="edit" size={16} />} onClick={onEdit}>
        Edit
      </Button>
    </Needs>
  );
}

function DeleteButton({ model, onGone, onGoing }: Omit<ManagingProps, 'onEdit'>) {
  const confirm = useConfirm();
  const queries = useQueryClient();
  const { id, version } = model;
  async function remove(): Promise<void> {
    const question = { title: `Delete ${id}?`, body: <Consequences model={model} />, confirm: 'Delete', danger: true };
    if (version === null || !(await confirm(question))) return;
    onGoing(true);
    await queries.cancelQueries({ queryKey: ['models', 'one', id] });
    try {
      await removeModel(id, version);
      onGone();
      notifyDone(`${id} is deleted.`);
      await queries.invalidateQueries({ queryKey: ['models', 'list'] });
    } catch (error) {
      onGoing(false);
      notifyFailed(error);
      await refreshModels(queries);
    }
  }
  return (
    <Button variant="subtle" color="red" leftSection={<Icon name="trash" size={16} />} onClick={() => void remove()}>
      Delete
    </Button>
  );
}

const shownKeys = 5;

function Consequences({ model }: { readonly model: ModelDetail }) {
  const { id, aliases, needs } = model;
  const names = [id, ...aliases].map((name) => `“${name}”`).join(', ');
  const keys = needs.keys.slice(0, shownKeys).join(', ');
  const more = needs.keys.length - shownKeys;
  return (
    <Stack gap="xs">
      <Text size="sm">{`Requests for ${names} are answered with “model not found” from then on.`}</Text>
      {needs.keys.length > 0 && (
        <Text size="sm">{`These keys name it in their list of models: ${keys}${more > 0 ? ` and ${more} more` : ''}.`}</Text>
      )}
      {needs.defaultFor.length > 0 && (
        <Text size="sm">{`It is the default for ${needs.defaultFor.join(' and ')}: requests that name no model would fail.`}</Text>
      )}
      <Text size="sm">What was asked of it stays in the requests. It can be added again.</Text>
    </Stack>
  );
}
