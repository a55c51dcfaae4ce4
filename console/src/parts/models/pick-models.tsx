/** Picks models from an upstream's list or by typed names, with client names, operations and prices. */

import {
  Button,
  Checkbox,
  Group,
  MultiSelect,
  ScrollArea,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Operation, UpstreamModels, Written } from '../../../../src/admin/contract.ts';
import { ApiError, ask, readAll, toCondition } from '../api/client.ts';
import { notifyDone } from '../dialogs/undo.tsx';
import type { Document } from '../forms/documents.ts';
import { toWords } from '../forms/use-api-form.ts';
import { Loading, toMessage } from '../layout/state.tsx';
import { Muted, Remark, Tag } from '../layout/text.tsx';
import { Icon } from '../marks/icon.tsx';
import { operationChoices, operationsByName, operationWords } from '../words/operations.ts';
import { type PriceUnit, priceInWords, sourceInWords, unitsOf, unitWords } from '../words/prices.ts';

/** Limit of listed options: thousands of models would block the page for seconds; typing finds the others. */
export const mostOptions = 200;

export function saveModel(document: Document, etag: string | undefined): Promise<Written> {
  return ask('PUT /api/models/:id', {
    params: { id: String(document.id) },
    body: document,
    headers: toCondition(etag),
  });
}

export const refreshModels = (queries: QueryClient): Promise<void> =>
  queries.invalidateQueries({ queryKey: ['models'] });

/** The upstream's own model list, fetched each time because the gateway then calls the upstream. */
function useUpstreamModels(upstream: string) {
  return useQuery({
    queryKey: ['upstreams', 'listed models', upstream],
    queryFn: ({ signal }) => ask('GET /api/upstreams/:id/models', { params: { id: upstream }, signal }),
    staleTime: 60_000,
    retry: false,
  });
}

interface PickModelsProps {
  readonly upstream: string;
  /** Content beside the button that adds the models. */
  readonly children?: ReactNode;
  onAdded(ids: readonly string[]): void;
}

export function PickModels({ upstream, children, onAdded }: PickModelsProps) {
  const queries = useQueryClient();
  const [chosen, setChosen] = useState<readonly Chosen[]>([]);
  const [visible, setVisible] = useState(true);
  const [failures, setFailures] = useState<Readonly<Record<string, string>>>({});
  const listing = useUpstreamModels(upstream);

  /** The upstream's entry for a name. Its operations are not guessed if unknown: the model would then serve all that the upstream supports. */
  const listed = (name: string) => listing.data?.items.find(({ id }) => id === name);
  const completed = chosen.map((one): Completed => {
    const guessed = listed(one.name)?.operations ?? operationsByName(one.name);
    const price = listed(one.name)?.price ?? null;
    return {
      isFree: listing.data?.ownServer === true && price === null,
      amounts: {},
      ...one,
      operations: one.operations ?? guessed,
      isGuessed: guessed.length > 0,
      price,
    };
  });

  const { mutate, isPending } = useMutation({
    mutationFn: async () => {
      const failed: Record<string, string> = {};
      const added: string[] = [];
      for (const one of completed) {
        try {
          await saveModel(toDocument(one, upstream, visible), undefined);
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
      if (Object.keys(failed).length === 0) onAdded(added);
    },
  });

  const choose = (names: readonly string[]): void =>
    setChosen(names.map((name) => chosen.find((one) => one.name === name) ?? { name, id: name }));
  return (
    <Stack>
      <ListedModels listing={listing} chosen={chosen.map(({ name }) => name)} onChoose={choose} />
      <ChosenModels
        chosen={completed}
        failures={failures}
        onChange={(name, more) => setChosen(chosen.map((one) => (one.name === name ? { ...one, ...more } : one)))}
      />
      <Switch
        label="Clients see them at once"
        checked={visible}
        onChange={({ currentTarget }) => setVisible(currentTarget.checked)}
      />
      <Group justify="flex-end" gap="xs">
        {children}
        <Button
          onClick={() => mutate()}
          loading={isPending}
          disabled={chosen.length === 0 || completed.some(({ operations }) => operations.length === 0)}
        >
          {chosen.length < 2 ? 'Add the model' : `Add ${chosen.length} models`}
        </Button>
      </Group>
    </Stack>
  );
}

interface Chosen {
  /** The upstream's name for the model. */
  readonly name: string;
  /** The name for clients. */
  readonly id: string;
  /** The operations that the user chose; undefined: those of the upstream's list, or by the name. */
  readonly operations?: readonly Operation[];
  readonly isFree?: boolean;
  readonly amounts?: Amounts;
}

type Amounts = Readonly<Partial<Record<PriceUnit, string>>>;

interface Completed extends Required<Chosen> {
  /** Whether the operations are those of the list or by the name, and not chosen. */
  readonly isGuessed: boolean;
  readonly price: UpstreamModels['items'][number]['price'];
}

function toDocument(one: Completed, upstream: string, visible: boolean): Document {
  const { name, operations, isFree } = one;
  const publicId = one.id.trim();
  const amounts = Object.entries(one.amounts).filter(([, amount]) => amount.trim() !== '');
  return {
    id: publicId,
    operations,
    ...(!visible && { visible: false }),
    ...(isFree && { price: 'free' }),
    ...(!isFree && amounts.length > 0 && { price: Object.fromEntries(amounts) }),
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

interface ChosenModelsProps {
  readonly chosen: readonly Completed[];
  /** Errors by the upstream's name for the model. */
  readonly failures: Readonly<Record<string, string>>;
  onChange(name: string, more: Partial<Chosen>): void;
}

/** The models to add, each with its name for clients, operations, price, and the error if it could not be added. */
function ChosenModels({ chosen, onChange, failures }: ChosenModelsProps) {
  if (chosen.length === 0) return null;
  return (
    <Stack gap="xs" role="group" aria-label="Names for clients">
      <Text size="sm" fw={500}>
        Names for clients, what each serves, and what it costs
      </Text>
      {chosen.map((one) => (
        <Stack key={one.name} gap={4}>
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" verticalSpacing={4}>
            <TextInput
              aria-label={`Name for clients of ${one.name}`}
              value={one.id}
              onChange={({ currentTarget }) => onChange(one.name, { id: currentTarget.value })}
              error={failures[one.name]}
              {...(one.id !== one.name && { description: `for ${one.name}` })}
              autoComplete="off"
              spellCheck={false}
            />
            <MultiSelect
              aria-label={`What ${one.name} serves`}
              data={operationChoices}
              value={[...one.operations]}
              onChange={(picked) => onChange(one.name, { operations: picked as Operation[] })}
              {...(!one.isGuessed && { description: 'Neither its list nor its name says what it is for: choose.' })}
              placeholder={one.operations.length === 0 ? 'What it serves' : ''}
            />
          </SimpleGrid>
          <PriceOf one={one} onChange={(more) => onChange(one.name, more)} />
        </Stack>
      ))}
    </Stack>
  );
}

interface PriceOfProps {
  readonly one: Completed;
  onChange(more: Partial<Chosen>): void;
}

function PriceOf({ one, onChange }: PriceOfProps) {
  if (one.price !== null) return <Remark>{`${priceInWords(one.price)}. ${sourceInWords(one.price)}`}</Remark>;
  const units = unitsOf(one.operations);
  return (
    <Group gap="xs" align="flex-end">
      <Checkbox
        label="Free"
        size="xs"
        mb={6}
        aria-label={`${one.name} is free`}
        checked={one.isFree}
        onChange={({ currentTarget }) => onChange({ isFree: currentTarget.checked })}
      />
      {one.isFree ? (
        <Remark>Nobody sends a bill for it.</Remark>
      ) : (
        units.map((unit) => (
          <TextInput
            key={unit}
            size="xs"
            label={unitWords[unit]}
            aria-label={`Price of ${one.name}: ${unitWords[unit]}`}
            leftSection="$"
            inputMode="decimal"
            value={one.amounts[unit] ?? ''}
            onChange={({ currentTarget }) => onChange({ amounts: { ...one.amounts, [unit]: currentTarget.value } })}
            autoComplete="off"
          />
        ))
      )}
      {!one.isFree && <Remark>No list has its price. Left empty: counted without a cost.</Remark>}
    </Group>
  );
}

interface ListedModelsProps {
  readonly listing: ReturnType<typeof useUpstreamModels>;
  readonly chosen: readonly string[];
  onChoose(names: readonly string[]): void;
}

/** Lets the user select the upstream's models, or type names, if it has no list or the model is not in it. */
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

export function useUpstreams() {
  return useQuery({
    queryKey: ['upstreams', 'names'],
    queryFn: ({ signal }) => readAll((before) => ask('GET /api/upstreams', { query: { limit: 200, before }, signal })),
  });
}
