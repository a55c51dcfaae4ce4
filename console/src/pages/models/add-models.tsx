/** Adds models from what an upstream lists, several at once, or by names that are written. */

import {
  Anchor,
  Button,
  Checkbox,
  Group,
  Modal,
  MultiSelect,
  ScrollArea,
  Select,
  Stack,
  Switch,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Operation, UpstreamModels } from '../../../../src/admin/contract.ts';
import { ApiError } from '../../parts/api/client.ts';
import { notifyDone } from '../../parts/dialogs/undo.tsx';
import type { Document } from '../../parts/forms/documents.ts';
import { toWords } from '../../parts/forms/use-api-form.ts';
import { Empty, Failed, Loading, toMessage } from '../../parts/layout/state.tsx';
import { Muted, Remark, Tag } from '../../parts/layout/text.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { operationChoices, operationWords } from '../../parts/words/operations.ts';
import { refreshModels, saveModel, useUpstreamModels, useUpstreams } from './model-data.ts';
import { operationsByName } from './model-words.ts';

interface AddModelsProps {
  readonly opened: boolean;
  /** Whose models to begin with. */
  readonly from?: string | undefined;
  onClose(): void;
  /** The whole form instead. */
  onByHand(): void;
}

export const AddModels = ({ opened, from, onClose, onByHand }: AddModelsProps) => (
  <Modal opened={opened} onClose={onClose} title="Add models" size="lg">
    <Body from={from} onClose={onClose} onByHand={onByHand} />
  </Modal>
);

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

interface Chosen {
  /** As the upstream calls it. */
  readonly name: string;
  /** As clients will. */
  readonly id: string;
  /** What somebody chose; undefined where it is as its list or its name says. */
  readonly operations?: readonly string[];
}

interface ChosenModelsProps {
  readonly chosen: readonly Chosen[];
  onChange(chosen: readonly Chosen[]): void;
  /** What the upstream's list or the name itself says a model is for; empty where neither does. */
  told(name: string): readonly Operation[];
  /** By the upstream's name. */
  readonly failures: Readonly<Record<string, string>>;
}

/** Those about to be added, each with the name that clients will use, what it serves, and why one could not be. */
function ChosenModels({ chosen, onChange, told, failures }: ChosenModelsProps) {
  if (chosen.length === 0) return null;
  const change = (name: string, more: Partial<Chosen>): void =>
    onChange(chosen.map((one) => (one.name === name ? { ...one, ...more } : one)));
  return (
    <Stack gap="xs" role="group" aria-label="Names for clients">
      <Text size="sm" fw={500}>
        Names for clients, and what each serves
      </Text>
      {chosen.map(({ name, id, operations }) => (
        <Stack key={name} gap={4}>
          <TextInput
            aria-label={`Name for clients of ${name}`}
            value={id}
            onChange={({ currentTarget }) => change(name, { id: currentTarget.value })}
            error={failures[name]}
            {...(id !== name && { description: `for ${name}` })}
            autoComplete="off"
            spellCheck={false}
          />
          <MultiSelect
            aria-label={`What ${name} serves`}
            data={operationChoices}
            value={[...(operations ?? told(name))]}
            onChange={(picked) => change(name, { operations: picked })}
            {...(told(name).length === 0 && {
              description: 'Neither its list nor its name says what it is for: choose.',
            })}
            placeholder={(operations ?? told(name)).length === 0 ? 'What it serves' : ''}
          />
        </Stack>
      ))}
    </Stack>
  );
}

interface ListedModelsProps {
  readonly listing: ReturnType<typeof useUpstreamModels>;
  readonly chosen: readonly string[];
  onChoose(names: readonly string[]): void;
}

/** What an upstream lists, to tick; and names that are written, where it lists nothing or not this one. */
function ListedModels({ listing, chosen, onChoose }: ListedModelsProps) {
  const { data, error, isFetching, refetch } = listing;
  if (isFetching && data === undefined) return <Loading rows={3} />;
  const items = data?.items ?? [];
  const written = chosen.filter((name) => !items.some(({ id }) => id === name));
  const listed = chosen.filter((name) => !written.includes(name));
  return (
    <Stack gap="sm">
      {error !== null && (
        <Group gap="xs">
          <Text size="sm" role="alert">{`Its list could not be fetched: ${toMessage(error)}`}</Text>
          <Button size="compact-sm" variant="default" onClick={() => void refetch()}>
            Try again
          </Button>
        </Group>
      )}
      {data?.note != null && <Muted>{data.note}</Muted>}
      {items.length > 0 && (
        <Choices items={items} chosen={listed} onChoose={(names) => onChoose([...names, ...written])} />
      )}
      <TagsInput
        label={items.length > 0 ? 'Or by name' : 'Names'}
        description="As the upstream calls them; press Enter after each."
        value={written}
        onChange={(names) => onChoose([...listed, ...names.filter((name) => !listed.includes(name))])}
        acceptValueOnBlur
      />
    </Stack>
  );
}

interface ChoicesProps {
  readonly items: UpstreamModels['items'];
  readonly chosen: readonly string[];
  onChoose(names: readonly string[]): void;
}

function Choices({ items, chosen, onChoose }: ChoicesProps) {
  const [wanted, setWanted] = useState('');
  const fitting = items.filter(({ id }) => id.toLowerCase().includes(wanted.trim().toLowerCase()));
  const toggle = (id: string, isOn: boolean): void =>
    onChoose(isOn ? [...chosen, id] : chosen.filter((name) => name !== id));
  return (
    <Stack gap="xs" role="group" aria-label="Models that it lists">
      <TextInput
        type="search"
        label={`It lists ${items.length === 1 ? '1 model' : `${items.length} models`}`}
        placeholder="Search"
        leftSection={<Icon name="search" size={16} />}
        value={wanted}
        onChange={({ currentTarget }) => setWanted(currentTarget.value)}
      />
      <ScrollArea.Autosize mah={220} type="auto" viewportProps={{ tabIndex: 0, 'aria-label': 'Models that it lists' }}>
        <Stack gap={8} py={4}>
          {fitting.map(({ id, operations, models }) => (
            <Group key={id} justify="space-between" wrap="nowrap" pr="sm">
              <Checkbox
                checked={chosen.includes(id)}
                onChange={({ currentTarget }) => toggle(id, currentTarget.checked)}
                label={id}
                className="breaks"
              />
              {models.length > 0 ? (
                <Tag>Added already</Tag>
              ) : (
                <Remark>{operations?.map((operation) => operationWords[operation]).join(', ')}</Remark>
              )}
            </Group>
          ))}
          {fitting.length === 0 && <Muted>None has that in its name.</Muted>}
        </Stack>
      </ScrollArea.Autosize>
    </Stack>
  );
}
