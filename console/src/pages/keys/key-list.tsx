/** The list of keys, as a table or as cards on narrow screens. */

import { Button, Card, Center, Stack, Table, Text, UnstyledButton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Link } from 'wouter';
import type { Key, ListedKey } from '../../../../src/admin/contract.ts';
import { trafficCells, trafficColumns } from '../../parts/explorer/traffic.ts';
import { DataTable } from '../../parts/layout/table.tsx';
import { Remark } from '../../parts/layout/text.tsx';
import { listItem } from '../../parts/shell/shortcuts.tsx';
import { formatCount } from '../../parts/words/format.ts';
import { pageOf } from '../../parts/words/links.ts';
import { Nothing, When } from '../../parts/words/numbers.tsx';
import type { KeyOrder } from './data.ts';
import { KeyBadges, limitsInWords, modelsInWords, nameOf } from './key-badges.tsx';
import { BudgetBar, Trend } from './spend-facts.tsx';

export interface KeyListProps {
  readonly keys: readonly ListedKey[];
  readonly trends: ReadonlyMap<string, readonly number[]>;
  readonly order: KeyOrder | undefined;
  onOrder(order: KeyOrder): void;
  /** Undefined where there are no more. */
  readonly onMore: (() => void) | undefined;
  readonly isLoadingMore: boolean;
}

export function KeyList(props: KeyListProps) {
  const isNarrow = useMediaQuery('(max-width: 62em)', false, { getInitialValueInEffect: false });
  return (
    <Stack>
      {isNarrow ? <Cards {...props} /> : <Rows {...props} />}
      {props.onMore !== undefined && (
        <Center>
          <Button variant="default" loading={props.isLoadingMore} onClick={props.onMore}>
            Show more
          </Button>
        </Center>
      )}
    </Stack>
  );
}

const [requests, p95, cost] = trafficColumns;
/** The columns that the list can be in the order of. */
const sorts: Readonly<Record<string, KeyOrder['sort']>> = {
  Key: 'name',
  [requests]: 'requests',
  [p95]: 'p95',
  [cost]: 'cost',
  'Last used': 'lastUsed',
};

function Rows({ keys, trends, order, onOrder }: KeyListProps) {
  const sorted = Object.keys(sorts).find((title) => sorts[title] === order?.sort);
  return (
    <Table.ScrollContainer minWidth={1140} type="native" tabIndex={0} aria-label="Keys">
      <DataTable
        highlightOnHover
        verticalSpacing="sm"
        {...(sorted !== undefined && { sorting: { by: sorted, isDescending: order?.direction === 'desc' } })}
        onSort={({ by, isDescending }) =>
          onOrder({ sort: sorts[by] ?? 'name', direction: isDescending ? 'desc' : 'asc' })
        }
        columns={[
          { title: 'Key', maw: 240, isSortable: true },
          'State',
          { title: 'May use', miw: 120, maw: 200 },
          'Limits',
          { title: 'Budgets', miw: 160 },
          'Last 7 days',
          ...trafficColumns.map((title) => ({ title, ta: 'right' as const, isSortable: true })),
          { title: 'Last used', miw: 84, isSortable: true },
        ]}
        rows={keys.map((key) => ({
          id: key.id,
          cells: [
            <Name key="name" item={key} />,
            <KeyBadges key="state" item={key} />,
            <Reach key="reach" item={key} />,
            <Limits key="limits" item={key} />,
            <Budgets key="budgets" item={key} />,
            <Use key="use" values={trends.get(key.id)} />,
            ...trafficCells(key.traffic ?? undefined),
            <When key="used" at={key.lastUsedAt} />,
          ],
        }))}
      />
    </Table.ScrollContainer>
  );
}

const Cards = ({ keys, trends }: KeyListProps) => (
  <Stack gap="sm" component="ul" className="plain-list" aria-label="Keys">
    {keys.map((key) => (
      <Card key={key.id} component="li" withBorder padding="sm">
        <Stack gap="xs">
          <Name item={key} />
          <KeyBadges item={key} />
          <Reach item={key} />
          {limitsInWords(key.document.limits).length > 0 && <Limits item={key} />}
          {key.budgets.length > 0 && <Budgets item={key} />}
          <Use values={trends.get(key.id)} />
        </Stack>
      </Card>
    ))}
  </Stack>
);

const Name = ({ item }: { readonly item: Key }) => (
  <UnstyledButton {...listItem} component={Link} href={pageOf({ kind: 'key', id: item.id })} className="row-name">
    <Text fw={600} size="sm" className="breaks">
      {nameOf(item)}
    </Text>
    <Remark className="breaks">
      {[item.hint, item.document.name === undefined ? undefined : item.id, item.document.project]
        .filter((part) => part !== undefined && part !== null)
        .join(' · ')}
    </Remark>
  </UnstyledButton>
);

const Reach = ({ item: { document } }: { readonly item: Key }) => (
  <>
    <Text size="sm" className="breaks">
      {modelsInWords(document.models)}
    </Text>
    {document.operations !== undefined && <Remark>{document.operations.join(', ')}</Remark>}
  </>
);

function Limits({ item: { document } }: { readonly item: Key }) {
  const limits = limitsInWords(document.limits);
  if (limits.length === 0) return <Nothing>no limits</Nothing>;
  return (
    <>
      {limits.map((words) => (
        <Text key={words} size="xs" className="numeric">
          {words}
        </Text>
      ))}
    </>
  );
}

function Budgets({ item: { budgets } }: { readonly item: Key }) {
  if (budgets.length === 0) return <Nothing>no budget</Nothing>;
  return (
    <Stack gap={8}>
      {budgets.map((budget) => (
        <BudgetBar key={budget.every} budget={budget} />
      ))}
    </Stack>
  );
}

function Use({ values }: { readonly values: readonly number[] | undefined }) {
  const sum = (values ?? []).reduce((total, value) => total + value, 0);
  if (values === undefined || sum === 0) {
    return <Remark>Not used</Remark>;
  }
  const words = `${formatCount(sum)} ${sum === 1 ? 'request' : 'requests'}`;
  return (
    <>
      <Trend values={values} label={`${words} in the last 7 days`} />
      <Remark className="numeric">{words}</Remark>
    </>
  );
}
