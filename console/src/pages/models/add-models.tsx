/** Adds models from what an upstream lists, several at once, or by names that are written. */

import { Anchor, Button, Group, Modal, Select, Stack, Switch } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { ApiError } from '../../parts/api/client.ts';
import { notifyDone } from '../../parts/dialogs/undo.tsx';
import { toWords } from '../../parts/forms/use-api-form.ts';
import { Empty, Failed, Loading, toMessage } from '../../parts/layout/state.tsx';
import { type Chosen, ChosenModels } from './chosen-models.tsx';
import { operationsByName } from './known-names.ts';
import { ListedModels } from './listed-models.tsx';
import { refreshModels, saveModel } from './model-data.ts';
import type { Document } from './model-document.ts';
import { useUpstreamModels, useUpstreams } from './upstream-data.ts';

interface AddModelsProps {
  readonly opened: boolean;
  /** Whose models to begin with. */
  readonly from?: string | undefined;
  onClose(): void;
  /** The whole form instead. */
  onByHand(): void;
}

export function AddModels({ opened, from, onClose, onByHand }: AddModelsProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="Add models" size="lg">
      <Body from={from} onClose={onClose} onByHand={onByHand} />
    </Modal>
  );
}

type Failures = Readonly<Record<string, string>>;

function Body({ from, onClose, onByHand }: Omit<AddModelsProps, 'opened'>) {
  const queries = useQueryClient();
  const { data: upstreams, error, refetch } = useUpstreams();
  const [picked, setPicked] = useState<string | null>(from ?? null);
  const upstream = picked ?? (upstreams?.length === 1 ? (upstreams[0]?.id ?? null) : null);
  const [chosen, setChosen] = useState<readonly Chosen[]>([]);
  const [visible, setVisible] = useState(true);
  const [failures, setFailures] = useState<Failures>({});
  const listing = useUpstreamModels(upstream);

  /** What nobody says is not guessed: it would serve, and be offered for, whatever the upstream can. */
  const told = (name: string) =>
    listing.data?.items.find(({ id }) => id === name)?.operations ?? operationsByName(name);
  const servedBy = (one: Chosen): readonly string[] => one.operations ?? told(one.name);
  const isUnclear = chosen.some((one) => servedBy(one).length === 0);

  const { mutate, isPending } = useMutation({
    mutationFn: async () => {
      const failed: Record<string, string> = {};
      const added: string[] = [];
      for (const one of chosen) {
        try {
          await saveModel(toDocument(one, upstream ?? '', servedBy(one), visible), undefined);
          added.push(one.id);
        } catch (thrown) {
          failed[one.name] = inWords(thrown);
        }
      }
      return { added, failed };
    },
    onSuccess: ({ added, failed }) => {
      void refreshModels(queries);
      void queries.invalidateQueries({ queryKey: ['upstreams'] });
      setFailures(failed);
      setChosen(chosen.filter(({ name }) => Object.hasOwn(failed, name)));
      if (added.length > 0)
        notifyDone(added.length === 1 ? `${added[0]} is added.` : `${added.length} models are added.`);
      if (Object.keys(failed).length === 0) onClose();
    },
  });

  if (upstreams === undefined) {
    return error === null ? <Loading rows={3} /> : <Failed error={error} onRetry={() => void refetch()} />;
  }
  if (upstreams.length === 0) {
    return (
      <Empty
        icon="upstreams"
        title="Add an upstream first"
        action={
          <Button component={Link} href="/upstreams" onClick={onClose}>
            Go to upstreams
          </Button>
        }
      >
        A model is answered by an upstream: a provider, or a server of your own.
      </Empty>
    );
  }
  const choose = (names: readonly string[]): void =>
    setChosen(names.map((name) => chosen.find((one) => one.name === name) ?? { name, id: name }));
  return (
    <Stack>
      <Select
        label="Upstream"
        data={upstreams.map(({ id, family }) => ({
          value: id,
          label: id === family.id ? id : `${id} (${family.title})`,
        }))}
        value={upstream}
        onChange={(next) => {
          setPicked(next);
          setChosen([]);
          setFailures({});
        }}
        placeholder="Who answers"
        allowDeselect={false}
        data-autofocus
      />
      {upstream !== null && (
        <>
          <ListedModels listing={listing} chosen={chosen.map(({ name }) => name)} onChoose={choose} />
          <ChosenModels chosen={chosen} onChange={setChosen} told={told} failures={failures} />
          <Switch
            label="Clients see them at once"
            checked={visible}
            onChange={({ currentTarget }) => setVisible(currentTarget.checked)}
          />
        </>
      )}
      <Group justify="space-between">
        <Anchor component="button" type="button" size="sm" onClick={onByHand}>
          Write one by hand, with several targets
        </Anchor>
        <Group gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button onClick={() => mutate()} loading={isPending} disabled={chosen.length === 0 || isUnclear}>
            {chosen.length < 2 ? 'Add the model' : `Add ${chosen.length} models`}
          </Button>
        </Group>
      </Group>
    </Stack>
  );
}

function toDocument({ id, name }: Chosen, upstream: string, operations: readonly string[], visible: boolean): Document {
  const publicId = id.trim();
  return {
    id: publicId,
    operations,
    ...(!visible && { visible: false }),
    targets: [{ upstream, ...(name !== publicId && { model: name }) }],
  };
}

function inWords(thrown: unknown): string {
  if (thrown instanceof ApiError && thrown.fields.length > 0) {
    return thrown.fields
      .map(({ path, message }) => (path === '' || path === 'id' ? message : `${toWords(path)}: ${message}`))
      .join(' ');
  }
  return toMessage(thrown);
}
