/** Usage as a table, with its sum at the foot. */

import { Group, Pagination, Stack, Table } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Usage, UsageSums } from '../../../../src/admin/contract.ts';
import { BarChart } from '../../parts/charts/charts.tsx';
import { Remark } from '../../parts/layout/text.tsx';
import { formatCompact, formatCount, formatMoney, formatPriceDay } from '../../parts/words/format.ts';
import { Count, Money } from '../../parts/words/numbers.tsx';
import {
  type Group as By,
  groupWords,
  inOrder,
  isTime,
  type Measure,
  measureOf,
  measureWords,
  toBars,
  toDollarText,
  type UnitColumn,
  unitColumns,
} from './usage-words.ts';

interface UsageTableProps {
  readonly usage: Usage;
  readonly by: By;
  nameOf(value: string | null): string;
}

const linesPerPage = 50;
/** Of a column that is there only where anything was counted. */
const unitWidth = 90;
const nameWidth = 110;

export function UsageTable({ usage: { lines, total, prices }, by, nameOf }: UsageTableProps) {
  const [page, setPage] = useState(1);
  const ordered = inOrder(lines, by, 'requests');
  // The newest time first, as in every list.
  if (isTime(by)) ordered.reverse();
  const pages = Math.ceil(ordered.length / linesPerPage);
  const current = Math.min(page, pages);
  const counted = unitColumns.filter(({ countOf }) => countOf(total.units) > 0);
  const shown = ordered.slice((current - 1) * linesPerPage, current * linesPerPage);
  return (
    <Stack gap="xs">
      <Table.ScrollContainer
        minWidth={760 + counted.length * unitWidth}
        scrollAreaProps={{ viewportProps: { tabIndex: 0, 'aria-label': 'Usage' } }}
      >
        <Table verticalSpacing={6} highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{groupWords[by]}</Table.Th>
              <Table.Th ta="right">Requests</Table.Th>
              <Table.Th ta="right">Not answered well</Table.Th>
              <Table.Th ta="right">Input tokens</Table.Th>
              <Table.Th ta="right">Output tokens</Table.Th>
              <Table.Th ta="right">Search units</Table.Th>
              <Table.Th ta="right">Cost</Table.Th>
              {counted.map(({ title }) => (
                <Table.Th key={title} ta="right">
                  {title}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((line) => (
              <Table.Tr key={line.by[by] ?? ''}>
                <Table.Th scope="row" fw={400} miw={nameWidth} className={isTime(by) ? 'numeric' : 'any-wrap'}>
                  {nameOf(line.by[by] ?? null)}
                </Table.Th>
                <Cells sums={line} counted={counted} />
              </Table.Tr>
            ))}
          </Table.Tbody>
          <Table.Tfoot>
            <Table.Tr className="usage-foot">
              <Table.Th scope="row">Total</Table.Th>
              <Cells sums={total} counted={counted} />
            </Table.Tr>
          </Table.Tfoot>
        </Table>
      </Table.ScrollContainer>
      {pages > 1 && (
        <Group justify="flex-end">
          <Pagination
            total={pages}
            value={current}
            onChange={setPage}
            getControlProps={(control) => ({ 'aria-label': `${control} page` })}
          />
        </Group>
      )}
      <Notes total={total} prices={prices} />
    </Stack>
  );
}

function Cells({ sums, counted }: { readonly sums: UsageSums; readonly counted: readonly UnitColumn[] }) {
  const { requests, errors, inputTokens, outputTokens, searchUnits, estimated, units } = sums;
  return (
    <>
      <NumberCell>
        <Count value={requests} />
      </NumberCell>
      <NumberCell>
        <Count value={errors} />
      </NumberCell>
      <NumberCell>
        {estimated > 0 && (
          <abbr title={`Of ${formatCount(estimated)} requests it is an estimate`} className="estimate">
            est.{' '}
          </abbr>
        )}
        <Count value={inputTokens} />
      </NumberCell>
      <NumberCell>
        <Count value={outputTokens} />
      </NumberCell>
      <NumberCell>
        <Count value={searchUnits} />
      </NumberCell>
      <NumberCell>
        <Cost sums={sums} />
      </NumberCell>
      {counted.map(({ title, countOf, isMoney }) => (
        <NumberCell key={title}>
          {isMoney === true ? <Money dollars={toDollarText(countOf(units))} /> : <Count value={countOf(units)} />}
        </NumberCell>
      ))}
    </>
  );
}

const NumberCell = ({ children }: { readonly children: ReactNode }) => <Table.Td ta="right">{children}</Table.Td>;

/** What is not known is no zero. */
function Cost({ sums: { cost, unpriced, requests } }: { readonly sums: UsageSums }) {
  if (unpriced === 0) return <Money dollars={cost} />;
  if (unpriced === requests) return <>unknown</>;
  return (
    <>
      <Money dollars={cost} />
      <Remark>and {formatCount(unpriced)} unknown</Remark>
    </>
  );
}

const Notes = ({ total: { unpriced, estimated }, prices }: Pick<Usage, 'total' | 'prices'>) => (
  <Remark>
    {unpriced > 0 && (
      <div>
        The cost of {formatCount(unpriced)} {unpriced === 1 ? 'request' : 'requests'} is unknown, as no price is known
        for the model: it is not in the sum.
      </div>
    )}
    {estimated > 0 && (
      <div>
        The usage of {formatCount(estimated)} {estimated === 1 ? 'request' : 'requests'} is an estimate, at least in
        part.
      </div>
    )}
    {prices.map(({ source, asOf, models }) => (
      <div key={source + asOf}>
        {formatCount(models)} {models === 1 ? 'model goes' : 'models go'} by{' '}
        {source === 'table' ? 'the table of prices' : 'imported prices'}, as of {formatPriceDay(asOf)}.
      </div>
    ))}
    <div>Days and hours are in UTC.</div>
  </Remark>
);

interface UsageChartProps {
  readonly usage: Usage;
  readonly by: By;
  readonly measure: Measure;
  nameOf(value: string | null): string;
}

/** Usage as bars. */
export function UsageChart({ usage, by, measure, nameOf }: UsageChartProps) {
  const bars = toBars(usage.lines, by, measure, nameOf);
  const format = measure === 'cost' ? formatMoney : formatCount;
  const total = format(measureOf(usage.total, measure));
  return (
    <BarChart
      height={220}
      label={`${measureWords[measure]} by ${groupWords[by].toLowerCase()}: ${total} in all. The table below has the numbers.`}
      data={bars.map(({ name, value }) => ({ name, [measureWords[measure]]: value }))}
      dataKey="name"
      series={[{ name: measureWords[measure], color: 'teal.7' }]}
      valueFormatter={format}
      yAxisProps={{ tickFormatter: measure === 'cost' ? formatMoney : formatCompact, width: 70 }}
      tickLine="none"
      barProps={{ maxBarSize: 48, isAnimationActive: false }}
    />
  );
}
