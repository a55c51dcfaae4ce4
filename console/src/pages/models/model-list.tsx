/** The list itself: a table where there is room, cards on a phone. */

import { Anchor, Button, Card, Center, Group, Stack, Table, Text, Tooltip } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { ReactNode } from 'react';
import type { Model, ModelTarget } from '../../../../src/admin/contract.ts';
import { Empty, Failed, Loading } from '../../parts/layout/state.tsx';
import { DataTable } from '../../parts/layout/table.tsx';
import { Muted, Remark, Tag } from '../../parts/layout/text.tsx';
import { ManagedBy, StatusBadge, Success } from '../../parts/marks/status.tsx';
import { listItem } from '../../parts/shell/shortcuts.tsx';
import { operationWords } from '../../parts/words/operations.ts';
import type { FilterState } from './filter-bar.tsx';
import { useModels, useVisibility } from './model-data.ts';
import { VisibleSwitch } from './model-facts.tsx';
import { callsOf, healthOf, priceInWords, sourceInWords } from './model-words.ts';

interface ModelListProps {
  readonly state: FilterState;
  readonly add: ReactNode;
}

export function ModelList({ state, add }: ModelListProps) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useModels(state.filters);
  const isNarrow = useMediaQuery('(max-width: 61.99em)', undefined, { getInitialValueInEffect: false });
  const visibility = useVisibility();
  if (data === undefined) {
    return error === null ? (
      <Loading rows={6} rowHeight={56} />
    ) : (
      <Failed error={error} onRetry={() => void refetch()} />
    );
  }
  const models = data.pages.flatMap(({ items }) => items);
  const total = data.pages[0]?.total ?? models.length;
  if (models.length === 0) return <NoModels state={state} add={add} />;
  const parts = models.map((model) => ({
    model,
    isOpen: state.opened === model.id,
    onOpen: () => state.open(model.id),
    toggle: <VisibleSwitch model={model} onChange={visibility.setVisible} pending={visibility.pending === model.id} />,
  }));
  return (
    <>
      {isNarrow === true ? (
        <Stack gap="sm" component="ul" className="plain-list">
          {parts.map((part) => (
            <ModelCard key={part.model.id} {...part} />
          ))}
        </Stack>
      ) : (
        <ModelTable parts={parts} />
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
  readonly model: Model;
  readonly isOpen: boolean;
  onOpen(): void;
  readonly toggle: ReactNode;
}

const ModelTable = ({ parts }: { readonly parts: readonly Part[] }) => (
  <Table.ScrollContainer minWidth={860}>
    <DataTable
      verticalSpacing="sm"
      highlightOnHover
      isNamed
      columns={[
        { title: 'Model', miw: 200 },
        'Serves',
        'Answered by',
        { title: 'Price', maw: 220 },
        'Health',
        'Visible',
      ]}
      rows={parts.map(({ model, isOpen, onOpen, toggle }) => ({
        id: model.id,
        ...(isOpen && { style: { background: 'var(--mantine-color-default-hover)' } }),
        cells: [
          <ModelName key="name" model={model} isOpen={isOpen} onOpen={onOpen} />,
          <Operations key="serves" model={model} />,
          <Targets key="targets" model={model} />,
          <PriceText key="price" targets={model.targets} />,
          <Health key="health" model={model} />,
          toggle,
        ],
      }))}
    />
  </Table.ScrollContainer>
);

const ModelCard = ({ model, isOpen, onOpen, toggle }: Part) => (
  <Card component="li" withBorder padding="md">
    <Group justify="space-between" align="flex-start" wrap="nowrap">
      <ModelName model={model} isOpen={isOpen} onOpen={onOpen} />
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
      <Labelled name="Price">
        <PriceText targets={model.targets} />
      </Labelled>
    </Stack>
  </Card>
);

const Labelled = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <Group gap="xs" align="flex-start" wrap="nowrap">
    <Muted miw={92}>{name}</Muted>
    {children}
  </Group>
);

const ModelName = ({ model, isOpen, onOpen }: Omit<Part, 'toggle'>) => (
  <Stack gap={2} align="flex-start">
    <Anchor
      {...listItem}
      component="button"
      type="button"
      fw={600}
      ta="left"
      onClick={onOpen}
      aria-expanded={isOpen}
      className="breaks"
    >
      {model.id}
    </Anchor>
    {model.aliases.length > 0 && <Remark className="breaks">also {model.aliases.join(', ')}</Remark>}
    <ManagedBy by={model.managedBy} place={model.place} />
  </Stack>
);

const Operations = ({ model }: { readonly model: Model }) => (
  <Group gap={4}>
    {model.operations.map((operation) => (
      <Tag key={operation}>{operationWords[operation]}</Tag>
    ))}
  </Group>
);

const shownTargets = 3;

function Targets({ model }: { readonly model: Model }) {
  const shown = model.targets.slice(0, shownTargets);
  const more = model.targets.length - shown.length;
  return (
    <Stack gap={2}>
      {shown.map(({ upstream, model: name }) => (
        <Text key={`${upstream} ${name}`} size="sm" className="breaks">
          {upstream}
          {name !== model.id && (
            <Text span size="xs" c="dimmed">
              {' '}
              as {name}
            </Text>
          )}
        </Text>
      ))}
      {more > 0 && <Remark>and {more} more</Remark>}
    </Stack>
  );
}

function Health({ model }: { readonly model: Model }) {
  if (!model.inForce) return <StatusBadge state="pending" label="Being put in force" />;
  const { state, label, why } = healthOf(model.targets);
  return (
    <>
      <StatusBadge state={state} {...(label !== undefined && { label })} why={why || null} />
      <Success {...callsOf(model.targets)} />
    </>
  );
}

/** Of several targets: one line for each price that differs. */
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
