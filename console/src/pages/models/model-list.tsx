/** Shows the list of models: a table, or cards on a phone. */

import { Anchor, Button, Card, Center, Checkbox, Group, Stack, Text, Tooltip } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type Dispatch, memo, type ReactNode, type SetStateAction, useState } from 'react';
import { Link } from 'wouter';
import type { Model, ModelPage, ModelTarget } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { useConfirm } from '../../parts/dialogs/confirm.tsx';
import { notifyDone, notifyFailed } from '../../parts/dialogs/undo.tsx';
import { trafficCells, trafficColumns, trafficWords } from '../../parts/explorer/traffic.ts';
import { Action } from '../../parts/layout/button.tsx';
import { Empty, Failed, Loading, toMessage } from '../../parts/layout/state.tsx';
import { DataTable, fitting, useListShape } from '../../parts/layout/table.tsx';
import { Muted, Remark, Tag } from '../../parts/layout/text.tsx';
import { ManagedBy, StatusBadge } from '../../parts/marks/status.tsx';
import { refreshModels } from '../../parts/models/pick-models.tsx';

import { Needs } from '../../parts/session/role.tsx';
import { listItem } from '../../parts/shell/shortcuts.tsx';
import { pageOf } from '../../parts/words/links.ts';
import { operationWords } from '../../parts/words/operations.ts';
import { priceInShort, priceInWords, sourceInWords } from '../../parts/words/prices.ts';
import { BulkPrice, setPrice } from './bulk-price.tsx';
import type { FilterState } from './filter-bar.tsx';
import { removeModel, useModels, useVisibility } from './model-data.ts';
import { VisibleSwitch } from './model-facts.tsx';
import { healthOf } from './model-words.ts';

interface ModelListProps {
  readonly state: FilterState;
  readonly add: ReactNode;
}

export function ModelList({ state, add }: ModelListProps) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useModels(
    state.filters,
    state.order,
  );
  const shape = useListShape();
  const visibility = useVisibility();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  if (data === undefined && error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading rows={6} rowHeight={56} />;
  const models = data.pages.flatMap(({ items }) => items);
  const total = data.pages[0]?.total ?? models.length;
  if (models.length === 0) return <NoModels state={state} add={add} />;
  const parts = models.map((model) => {
    const isPending = visibility.pending === model.id;
    return {
      model,
      isPending,
      toggle: <VisibleSwitch model={model} onChange={visibility.setVisible} pending={isPending} />,
    };
  });
  return (
    <>
      <BulkBar
        models={models.filter(({ id }) => chosen.has(id))}
        onAll={() => setChosen(new Set(models.map(({ id }) => id)))}
        onDone={(left = []) => setChosen(new Set(left))}
      />
      {shape === 'cards' ? (
        <Stack gap="sm" component="ul" className="plain-list">
          {parts.map((part) => (
            <ModelCard key={part.model.id} {...part} />
          ))}
        </Stack>
      ) : (
        <ModelTable
          parts={parts}
          table={state.table}
          isWide={shape === 'one line'}
          chosen={chosen}
          onChosen={setChosen}
        />
      )}
      <Muted mt="sm" role="status">
        {total === models.length ? inCount(total) : `${models.length} of ${inCount(total)}`}
      </Muted>
      {hasNextPage && (
        <Center mt="md">
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show more
          </Button>
        </Center>
      )}
    </>
  );
}

const inCount = (count: number): string => (count === 1 ? '1 model' : `${count} models`);

function NoModels({ state, add }: ModelListProps) {
  if (state.isFiltered) {
    return (
      <Empty icon="search" title="No model fits" action={<Button onClick={state.clear}>Show all models</Button>}>
        Nothing here has all of what you look for.
      </Empty>
    );
  }
  return (
    <Empty icon="models" title="Nothing to ask for yet" action={add}>
      A model is the name that clients use; behind it are one or more upstreams that answer. Add an upstream first, then
      pick from the models that it lists.
    </Empty>
  );
}

interface Part {
  readonly model: ModelPage['items'][number];
  readonly isPending: boolean;
  readonly toggle: ReactNode;
}

interface ModelTableProps {
  readonly parts: readonly Part[];
  readonly table: FilterState['table'];
  readonly isWide: boolean;
  readonly chosen: ReadonlySet<string>;
  readonly onChosen: Dispatch<SetStateAction<ReadonlySet<string>>>;
}

function ModelTable({ parts, table, isWide, chosen, onChosen }: ModelTableProps) {
  return (
    <DataTable
      {...fitting}
      verticalSpacing={6}
      highlightOnHover
      isNamed
      {...table}
      columns={[
        { title: 'Model', isSortable: true },
        { title: 'Health', w: 124 },
        ...trafficColumns,
        ...(isWide ? [{ title: 'Serves', w: 124 }] : []),
        { title: 'Visible', w: 92 },
        ...(isWide
          ? [
              { title: 'Answered by', w: 160 },
              { title: 'Price, 1M tokens', w: 140 },
            ]
          : []),
      ]}
      rows={parts.map(({ model, isPending, toggle }) => ({
        id: model.id,
        shows: [model, isPending, isWide, chosen.has(model.id)],
        cells: [
          <Group key="name" gap="sm" wrap="nowrap">
            <Checkbox
              size="xs"
              aria-label={`Choose ${model.id}`}
              checked={chosen.has(model.id)}
              onChange={() => onChosen((before) => before.symmetricDifference(new Set([model.id])))}
            />
            <div className="grows">
              <ModelName model={model} aliases={isWide ? model.aliases : []} isShort />
              {!isWide && <SecondLine model={model} />}
            </div>
          </Group>,
          <Health key="health" model={model} />,
          ...trafficCells(model.traffic),
          ...(isWide ? [<Operations key="serves" model={model} />] : []),
          toggle,
          ...(isWide
            ? [<Targets key="targets" model={model} />, <ShortPrice key="price" targets={model.targets} />]
            : []),
        ],
      }))}
    />
  );
}

/** The second line of a row, for facts that have no column. */
const SecondLine = ({ model }: { readonly model: Model }) => (
  <div className="second-line">
    <span>{model.operations.map((operation) => operationWords[operation]).join(', ')}</span>
    <Targets model={model} />
    <ShortPrice targets={model.targets} />
    {model.aliases.length > 0 && <span>also {model.aliases.join(', ')}</span>}
  </div>
);

interface BulkBarProps {
  readonly models: readonly Model[];
  onAll(): void;
  /** `left`: the models whose change failed or was not tried; undefined: none. */
  onDone(left?: readonly string[]): void;
}

const mostFailures = 5;

/** The actions for all chosen models. They are changed one after the other; those that were not changed stay chosen. */
function BulkBar({ models, onAll, onDone }: BulkBarProps) {
  const confirm = useConfirm();
  const queries = useQueryClient();
  const [progress, setProgress] = useState('');
  const { mutate, isPending } = useMutation({
    mutationFn: async ({ words, work }: { readonly words: string; work(model: Model): Promise<unknown> }) => {
      const own = models.filter(({ managedBy }) => managedBy === 'store');
      const done = new Set<string>();
      const failed = new Map<string, string>();
      for (const model of own) {
        setProgress(`${done.size} of ${own.length} done`);
        await work(model).then(
          () => done.add(model.id),
          (error: unknown) => failed.set(model.id, toMessage(error)),
        );
        // Nothing may work any more, such as after a sign-out.
        if (failed.size >= mostFailures) break;
      }
      const others = models.length - own.length;
      const rest = others === 0 ? '' : ` ${others} that the file or an upstream brings are left as they are.`;
      const left = own.map(({ id }) => id).filter((id) => !done.has(id));
      return { said: `${done.size === 1 ? 'One model is' : `${done.size} models are`} ${words}.${rest}`, failed, left };
    },
    onSuccess: ({ said, failed, left }) => {
      const [[id, message] = []] = failed;
      if (id === undefined) notifyDone(said);
      else notifyFailed(new Error(`${said} Failed: ${failed.size}, the first ${id}: ${message}`));
      onDone(left);
    },
    onSettled: () => refreshModels(queries),
  });
  const [isPricing, setPricing] = useState(false);
  if (models.length === 0) return null;
  const show = (visible: boolean) => (): void =>
    mutate({
      words: visible ? 'shown to clients' : 'hidden from clients',
      work: ({ id }) => ask('PATCH /api/models/:id', { params: { id }, body: { visible } }),
    });
  async function remove(): Promise<void> {
    const yes = await confirm({
      title: `Delete ${models.length === 1 ? models[0]?.id : `${models.length} models`}?`,
      body: 'Requests for them are answered with “model not found” from then on. They can be added again.',
      confirm: 'Delete',
      danger: true,
    });
    if (yes) mutate({ words: 'deleted', work: ({ id, version }) => removeModel(id, version ?? 0) });
  }
  return (
    <Group gap="xs" mb="xs" role="group" aria-label="Chosen models">
      <Text size="sm" fw={550}>
        {isPending ? progress : models.length === 1 ? 'One chosen' : `${models.length} chosen`}
      </Text>
      <Needs role="editor">
        <Group gap="xs">
          <Action icon="eye" label="Show" size="xs" loading={isPending} onClick={show(true)} />
          <Action icon="eyeOff" label="Hide" size="xs" loading={isPending} onClick={show(false)} />
          <Action icon="edit" label="Price" size="xs" loading={isPending} onClick={() => setPricing(true)} />
          <Action icon="trash" label="Delete" size="xs" loading={isPending} onClick={() => void remove()} />
        </Group>
      </Needs>
      <Action icon="check" label="Choose all shown" size="xs" variant="subtle" onClick={onAll} />
      <Action icon="close" label="Choose none" size="xs" variant="subtle" onClick={() => onDone()} />
      {isPricing && (
        <BulkPrice
          models={models}
          onClose={() => setPricing(false)}
          onSet={(price) => {
            setPricing(false);
            mutate({ words: 'given that price', work: (model) => setPrice(model, price) });
          }}
        />
      )}
    </Group>
  );
}

const ModelCard = memo(function ModelCard({ model, toggle }: Part) {
  return (
    <Card component="li" withBorder padding="md">
      <Group justify="space-between" align="flex-start" wrap="nowrap">
        <ModelName model={model} />
        {toggle}
      </Group>
      <Stack gap={6} mt="xs">
        <Group gap="xs">
          <Health model={model} />
          <Operations model={model} />
        </Group>
        <Labelled name="Answered by">
          <Targets model={model} />
        </Labelled>
        <Labelled name="Last 24 h">
          <Text size="sm">{trafficWords(model.traffic)}</Text>
        </Labelled>
        <Labelled name="Price">
          <PriceText targets={model.targets} />
        </Labelled>
      </Stack>
    </Card>
  );
}, isSamePart);

function isSamePart(one: Part, other: Part): boolean {
  return one.model === other.model && one.isPending === other.isPending;
}

const Labelled = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <Group gap="xs" align="flex-start" wrap="nowrap">
    <Muted miw={92}>{name}</Muted>
    {children}
  </Group>
);

interface ModelNameProps {
  readonly model: Model;
  readonly aliases?: readonly string[];
  readonly isShort?: boolean;
}

const ModelName = ({ model, aliases = model.aliases, isShort = false }: ModelNameProps) => (
  <Group gap="xs" wrap={isShort ? 'nowrap' : 'wrap'}>
    <Anchor
      {...listItem}
      component={Link}
      href={pageOf({ kind: 'model', id: model.id })}
      fw={600}
      size="sm"
      className={isShort ? 'cut' : 'breaks'}
      title={model.id}
    >
      {model.id}
    </Anchor>
    {aliases.length > 0 && (
      <Remark className={isShort ? 'cut cut-aliases' : 'breaks'} title={aliases.join(', ')}>
        also {aliases.join(', ')}
      </Remark>
    )}
    <ManagedBy by={model.managedBy} place={model.place} isShort={isShort} />
  </Group>
);

const Operations = ({ model: { operations } }: { readonly model: Model }) => {
  const [first, ...others] = operations.map((operation) => operationWords[operation]);
  return (
    <Group gap={4} wrap="nowrap" title={[first, ...others].join(', ')}>
      {first !== undefined && <Tag>{first}</Tag>}
      {others.length > 0 && <Remark component="span">+{others.length}</Remark>}
    </Group>
  );
};

/** The targets on one line: the first one, and the number of others. */
function Targets({ model: { id, targets } }: { readonly model: Model }) {
  const [first, ...others] = targets;
  if (first === undefined) return null;
  const all = targets.map(({ upstream, model }) => (model === id ? upstream : `${upstream} as ${model}`)).join(', ');
  return (
    <Text size="sm" className="cut" title={all}>
      {first.upstream}
      <Text span size="xs" c="dimmed">
        {first.model === id ? '' : ` as ${first.model}`}
        {others.length === 0 ? '' : `, and ${others.length} more`}
      </Text>
    </Text>
  );
}

function Health({ model }: { readonly model: Model }) {
  if (!model.inForce) return <StatusBadge state="pending" label="Being put in force" />;
  const { state, label, why } = healthOf(model.targets);
  return <StatusBadge state={state} {...(label !== undefined && { label })} why={why || null} />;
}

/** The price on one line: that of the first target, and how many others differ. */
function ShortPrice({ targets }: { readonly targets: readonly ModelTarget[] }) {
  const all = new Map(targets.map(({ price }) => [priceInWords(price), price]));
  const [[words, price] = ['', null]] = all;
  if (words === '') return null;
  return (
    <Tooltip
      label={[...all].map(([each, of]) => `${each}. ${sourceInWords(of)}`).join(' ')}
      withinPortal
      multiline
      maw={320}
      events={{ hover: true, focus: true, touch: true }}
    >
      <Text size="xs" className="cut" tabIndex={0} {...(!price?.amounts && { c: 'dimmed' })}>
        {priceInShort(price)}
        {all.size > 1 && `, and ${all.size - 1} more`}
      </Text>
    </Tooltip>
  );
}

/** The prices of all targets: one line for each price that differs. */
function PriceText({ targets }: { readonly targets: readonly ModelTarget[] }) {
  const lines = new Map(targets.map(({ price }) => [priceInWords(price), price]));
  return (
    <Stack gap={2} align="flex-start">
      {[...lines].map(([words, price]) => (
        <Tooltip key={words} label={sourceInWords(price)} withinPortal multiline maw={320} disabled={price === null}>
          <Text size="sm" {...(price === null || price.amounts === null ? { c: 'dimmed' } : {})}>
            {words}
            {price?.listed?.verified === false && (
              <Text span size="xs" c="dimmed">
                {' '}
                (not checked)
              </Text>
            )}
          </Text>
        </Tooltip>
      ))}
    </Stack>
  );
}
