/** Shows the details of one model: facts, a test call, its form, and deletion. */

import { Alert, Anchor, Card, Group, Select, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Model, ModelDetail, ModelTestAnswer, Operation } from '../../../../src/admin/contract.ts';
import type { Versioned } from '../../parts/api/client.ts';
import { useConfirm } from '../../parts/dialogs/confirm.tsx';
import { notifyDone, notifyFailed } from '../../parts/dialogs/undo.tsx';
import { useInterruptedEdit } from '../../parts/forms/use-element-form.tsx';
import { Action } from '../../parts/layout/button.tsx';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { Heading, Muted } from '../../parts/layout/text.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { StatusBadge } from '../../parts/marks/status.tsx';
import { refreshModels } from '../../parts/models/pick-models.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { formatDuration } from '../../parts/words/format.ts';
import { cannotBeTried, operationChoices } from '../../parts/words/operations.ts';
import { EditModel, modelDraft } from './edit-model.tsx';
import { removeModel, tryModel, useModel } from './model-data.ts';
import { ModelFacts } from './model-facts.tsx';
import { ModelLists } from './model-lists.tsx';

interface ModelDetailsProps {
  readonly id: string;
  onGone(): void;
}

export function ModelDetails({ id, onGone }: ModelDetailsProps) {
  const [isGoing, setGoing] = useState(false);
  const { data, error, refetch } = useModel(id, isGoing);
  // The model when editing began: changes by others since then show when it is saved.
  const [edited, setEdited] = useState<Versioned<ModelDetail>>();
  useInterruptedEdit(modelDraft, data, setEdited);
  if (edited !== undefined) {
    return <EditModel began={edited} onDone={() => setEdited(undefined)} onCancel={() => setEdited(undefined)} />;
  }
  if (data === undefined) {
    return error === null ? (
      <Loading rows={5} rowHeight={48} />
    ) : (
      <Failed error={error} onRetry={() => void refetch()} />
    );
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

const EditButton = ({ onEdit }: { onEdit(): void }) => (
  <Needs role="editor">
    <Action icon="edit" label="Edit" onClick={onEdit} />
  </Needs>
);

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
  return <Action icon="trash" label="Delete" variant="subtle" color="red" onClick={() => void remove()} />;
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

/** Sends a small request to a model, as a client would, and shows the answer. */
function TryModel({ model }: { readonly model: Pick<Model, 'id' | 'operations' | 'visible' | 'inForce'> }) {
  const [picked, setPicked] = useState<string | null>(null);
  const tested = model.operations.filter((one) => !cannotBeTried(one));
  const operation = tested.find((one) => one === picked) ?? tested[0];
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: (wanted: Operation) => tryModel(model.id, wanted),
  });
  const isPattern = model.id.includes('*');
  if (operation === undefined) return null;
  return (
    <Stack gap="xs">
      <Heading>Test</Heading>
      <Muted>
        {isPattern
          ? 'Its name is a pattern: try a name that fits it in the playground.'
          : 'Sends a small request through the gateway, with its limits, retries and price.'}
      </Muted>
      {!isPattern && (
        <Needs role="editor">
          <Group gap="xs" align="flex-end">
            {tested.length > 1 && (
              <Select
                aria-label="What to test"
                data={operationChoices.filter(({ value }) => tested.includes(value))}
                value={operation}
                onChange={setPicked}
                allowDeselect={false}
                w={170}
              />
            )}
            <Action
              icon="play"
              label="Send a test request"
              loading={isPending}
              disabled={!model.inForce}
              onClick={() => mutate(operation)}
            />
          </Group>
        </Needs>
      )}
      <div aria-live="polite">
        {error !== null && <Failed error={error} />}
        {data !== undefined && !isPending && <Answer answer={data} isHidden={!model.visible} />}
      </div>
    </Stack>
  );
}

function Answer({ answer, isHidden }: { readonly answer: ModelTestAnswer; readonly isHidden: boolean }) {
  const { ok, status, durationMs, upstream, attempts, excerpt, requestId } = answer;
  const by = upstream === null ? '' : ` from ${upstream}`;
  const tries = attempts === null || attempts < 2 ? '' : `, after ${attempts} attempts`;
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between">
        <Group gap="xs">
          <StatusBadge state={ok ? 'ok' : 'error'} label={ok ? 'It answers' : 'It does not answer'} />
          <Text size="sm">{`${status}${by} in ${formatDuration(durationMs)}${tries}`}</Text>
        </Group>
        <Anchor size="sm" component={Link} href={`/explorer?q=${encodeURIComponent(requestId)}`}>
          See the request
        </Anchor>
      </Group>
      {!ok && isHidden && status === 404 && (
        <Text size="sm" mt="xs">
          It is hidden, and on this route a hidden model answers as if it were not there. Show it to clients to test it.
        </Text>
      )}
      {excerpt !== '' && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
        <pre className="snippet-code excerpt" tabIndex={0}>
          {excerpt}
        </pre>
      )}
    </Card>
  );
}
