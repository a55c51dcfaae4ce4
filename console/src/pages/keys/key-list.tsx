/** The keys as a table, and as cards where there is no room for one. */

import { Button, Card, Center, Stack, Table, Text, UnstyledButton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { Key } from '../../../../src/admin/contract.ts';
import { Remark } from '../../parts/layout/text.tsx';
import { formatCount } from '../../parts/words/format.ts';
import { Nothing } from '../../parts/words/numbers.tsx';
import { KeyBadges, limitsInWords, modelsInWords, nameOf } from './key-badges.tsx';
import { BudgetBar, Trend } from './spend-facts.tsx';

export interface KeyListProps {
  readonly keys: readonly Key[];
  readonly trends: ReadonlyMap<string, readonly number[]>;
  readonly selected: string | undefined;
  readonly onSelect: (id: string) => void;
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

function Rows({ keys, trends, selected, onSelect }: KeyListProps) {
  return (
    <Table.ScrollContainer minWidth={880} type="native" tabIndex={0} aria-label="Keys">
      <Table highlightOnHover verticalSpacing="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Key</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>May use</Table.Th>
            <Table.Th>Limits</Table.Th>
            <Table.Th>Budgets</Table.Th>
            <Table.Th>Last 7 days</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {keys.map((key) => (
            <Table.Tr key={key.id} aria-selected={key.id === selected} className="pickable-row">
              <Table.Td maw={260}>
                <Name item={key} onSelect={onSelect} />
              </Table.Td>
              <Table.Td>
                <KeyBadges item={key} />
              </Table.Td>
              <Table.Td miw={130} maw={220}>
                <Reach item={key} />
              </Table.Td>
              <Table.Td>
                <Limits item={key} />
              </Table.Td>
              <Table.Td miw={170}>
                <Budgets item={key} />
              </Table.Td>
              <Table.Td>
                <Use values={trends.get(key.id)} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Cards({ keys, trends, onSelect }: KeyListProps) {
  return (
    <Stack gap="sm" component="ul" className="plain-list" aria-label="Keys">
      {keys.map((key) => (
        <Card key={key.id} component="li" withBorder padding="sm">
          <Stack gap="xs">
            <Name item={key} onSelect={onSelect} />
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
}

function Name({ item, onSelect }: { readonly item: Key; readonly onSelect: (id: string) => void }) {
  return (
    <UnstyledButton onClick={() => onSelect(item.id)} className="row-name">
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
}

function Reach({ item: { document } }: { readonly item: Key }) {
  return (
    <>
      <Text size="sm" className="breaks">
        {modelsInWords(document.models)}
      </Text>
      {document.operations !== undefined && <Remark>{document.operations.join(', ')}</Remark>}
    </>
  );
}

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
