/** The list of keys, as a table or as cards on narrow screens. */

import { Button, Card, Center, Stack, Table, Text, UnstyledButton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Link } from 'wouter';
import type { Key, ListedKey } from '../../../../src/admin/contract.ts';
import { trafficCells, trafficColumns, trafficWords } from '../../parts/explorer/traffic.ts';
import type { useOrder } from '../../parts/layout/filters.tsx';
import { DataTable } from '../../parts/layout/table.tsx';
import { Remark } from '../../parts/layout/text.tsx';
import { listItem } from '../../parts/shell/shortcuts.tsx';
import { formatCount } from '../../parts/words/format.ts';
import { pageOf } from '../../parts/words/links.ts';
import { Nothing, When } from '../../parts/words/numbers.tsx';
import { KeyBadges, limitsInWords, modelsInWords, nameOf } from './key-badges.tsx';
import { BudgetBar, Trend } from './spend-facts.tsx';

export interface KeyListProps {
  readonly keys: readonly ListedKey[];
  readonly trends: ReadonlyMap<string, readonly number[]>;
  readonly table: ReturnType<typeof useOrder>['table'];
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

function Rows({ keys, trends, table }: KeyListProps) {
  return (
    <Table.ScrollContainer minWidth={1080} type="native" pos="relative" tabIndex={0} aria-label="Keys">
      <DataTable
        highlightOnHover
        verticalSpacing="sm"
        {...table}
        columns={[
          { title: 'Key', miw: 180, maw: 260, isSortable: true },
          'State',
          ...trafficColumns.map((title) => ({ title, ta: 'right' as const, isSortable: true })),
          { title: 'Last 7 days', className: 'one-line' },
          { title: 'Budgets', miw: 170 },
          { title: 'Last used', miw: 110, isSortable: true },
          'Limits',
          { title: 'May use', miw: 110, maw: 200 },
        ]}
        rows={keys.map((key) => ({
          id: key.id,
          cells: [
            <Name key="name" item={key} isShort />,
            <KeyBadges key="state" item={key} isShort />,
            ...trafficCells(key.traffic),
            <Use key="use" values={trends.get(key.id)} isShort />,
            <Budgets key="budgets" item={key} />,
            <When key="used" at={key.lastUsedAt} />,
            <Limits key="limits" item={key} />,
            <Reach key="reach" item={key} />,
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
          <Text size="sm">Last 24 h: {trafficWords(key.traffic)}</Text>
          <Use values={trends.get(key.id)} />
        </Stack>
      </Card>
    ))}
  </Stack>
);

const Name = ({ item, isShort = false }: { readonly item: Key; readonly isShort?: boolean }) => (
  <UnstyledButton {...listItem} component={Link} href={pageOf({ kind: 'key', id: item.id })} className="row-name">
    <Text
      fw={600}
      size="sm"
      c="var(--mantine-color-anchor)"
      className={isShort ? 'one-line cut-name' : 'breaks'}
      title={nameOf(item)}
    >
      {nameOf(item)}
    </Text>
    <Remark className={isShort ? 'one-line cut-name' : 'breaks'}>
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

interface UseProps {
  readonly values: readonly number[] | undefined;
  /** The line alone; its words are for screen readers. */
  readonly isShort?: boolean;
}

function Use({ values, isShort = false }: UseProps) {
  const sum = (values ?? []).reduce((total, value) => total + value, 0);
  if (values === undefined || sum === 0) {
    return <Remark>Not used</Remark>;
  }
  const words = `${formatCount(sum)} ${sum === 1 ? 'request' : 'requests'}`;
  return (
    <>
      <Trend values={values} label={`${words} in the last 7 days`} />
      {!isShort && <Remark className="numeric">{words}</Remark>}
    </>
  );
}
