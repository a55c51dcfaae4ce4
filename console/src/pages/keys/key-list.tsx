/** Shows the list of keys, as a table or as cards on narrow screens. */

import { Button, Card, Center, Stack, Text, UnstyledButton } from '@mantine/core';
import { Link } from 'wouter';
import type { Key, ListedKey } from '../../../../src/admin/contract.ts';
import { trafficCells, trafficColumns, trafficWords } from '../../parts/explorer/traffic.ts';
import type { useOrder } from '../../parts/layout/filters.tsx';
import { DataTable, fitting, useListShape } from '../../parts/layout/table.tsx';
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
  readonly onMore: (() => void) | undefined;
  readonly isLoadingMore: boolean;
}

export function KeyList(props: KeyListProps) {
  const shape = useListShape();
  return (
    <Stack>
      {shape === 'cards' ? <Cards {...props} /> : <Rows {...props} isWide={shape === 'one line'} />}
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

function Rows({ keys, trends, table, isWide }: KeyListProps & { readonly isWide: boolean }) {
  return (
    <DataTable
      {...fitting}
      aria-label="Keys"
      highlightOnHover
      verticalSpacing="sm"
      {...table}
      columns={[
        { title: 'Key', isSortable: true },
        ...(isWide ? [{ title: 'State', w: 112 }] : []),
        ...trafficColumns,
        ...(isWide ? [{ title: 'Last 7 days', w: 112 }] : []),
        { title: 'Budgets', w: 150 },
        { title: 'Last used', w: 100, isSortable: true },
        ...(isWide ? [{ title: 'May use', w: 190 }] : []),
      ]}
      rows={keys.map((key) => ({
        id: key.id,
        shows: [key, trends.get(key.id), isWide],
        cells: [
          <div key="name">
            <Name item={key} isShort />
            {!isWide && (
              <>
                <Remark mb={4}>{allowedInWords(key)}</Remark>
                <KeyBadges item={key} isShort />
              </>
            )}
          </div>,
          ...(isWide ? [<KeyBadges key="state" item={key} isShort />] : []),
          ...trafficCells(key.traffic),
          ...(isWide ? [<Use key="use" values={trends.get(key.id)} isShort />] : []),
          <Budgets key="budgets" item={key} />,
          <When key="used" at={key.lastUsedAt} />,
          ...(isWide
            ? [
                <div key="reach">
                  <Reach item={key} />
                  <Limits item={key} />
                </div>,
              ]
            : []),
        ],
      }))}
    />
  );
}

const allowedInWords = ({ document: { models, operations = [], limits } }: Key): string =>
  [modelsInWords(models), ...operations, ...limitsInWords(limits)].join(' · ');

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

function Name({ item, isShort = false }: { readonly item: Key; readonly isShort?: boolean }) {
  const { hint, id, document } = item;
  const about = [hint, document.name === undefined ? undefined : id, document.project]
    .filter((part) => part !== undefined && part !== null)
    .join(' · ');
  return (
    <UnstyledButton {...listItem} component={Link} href={pageOf({ kind: 'key', id: item.id })} className="row-name">
      <Text
        fw={600}
        size="sm"
        c="var(--mantine-color-anchor)"
        className={isShort ? 'cut' : 'breaks'}
        title={nameOf(item)}
      >
        {nameOf(item)}
      </Text>
      <Remark className={isShort ? 'cut' : 'breaks'} title={about}>
        {about}
      </Remark>
    </UnstyledButton>
  );
}

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
  if (limits.length === 0) return <Remark>No limits</Remark>;
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
  /** Whether to show the trend line only, with its text for screen readers. */
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
