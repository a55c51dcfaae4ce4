/** Shows the cost of the selected requests: stacked by the split, savings, budget forecasts, and a CSV export. */

import { Button, Group, Paper, SimpleGrid, Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link } from 'wouter';
import type { Series as Answer, Key, Project, Usage } from '../../../../src/admin/contract.ts';
import { toAddress } from '../api/asking.ts';
import { ask } from '../api/client.ts';
import { Tile } from '../charts/tile.tsx';
import { TimeChart } from '../charts/time-chart.tsx';
import { Failed, Loading } from '../layout/state.tsx';
import { DataTable } from '../layout/table.tsx';
import { Muted, Remark } from '../layout/text.tsx';
import { Icon } from '../marks/icon.tsx';
import { periodWords } from '../words/caps.ts';
import { forecastWords, formatCompact, formatCount, formatMoney } from '../words/format.ts';
import { dimensionWords } from '../words/labels.ts';
import { SplitTable } from './causes.tsx';
import { type Filters, toSeriesQuery } from './filters.ts';
import type { Names } from './ledger-data.ts';
import { useSeries } from './series-data.ts';
import { changeWords, toNamedLines, toRows } from './series-rows.ts';
import type { Dimension, Sight } from './sight.ts';

interface CostTabProps {
  readonly filters: Filters;
  readonly sight: Sight;
  readonly names: Names;
  onNarrow(filters: Filters): void;
}

/** The split of costs, if the user chose none. */
const standardBy: readonly Dimension[] = ['model'];
/** The dimensions by which `GET /api/usage` can add up. */
const usageGroups: readonly Dimension[] = ['model', 'upstream', 'key', 'project', 'operation', 'outcome'];

export default function CostTab({ filters, sight, names, onNarrow }: CostTabProps) {
  const { data, error, refetch } = useSeries(filters, sight);
  const by = sight.by.length === 0 ? standardBy : sight.by;
  const lines = useMemo(
    () => (data === undefined ? [] : toNamedLines(data.lines, by, (dimension, value) => names.of(dimension, value))),
    [data, by, names],
  );
  if (error !== null && data === undefined) return <Failed error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading rows={3} rowHeight={220} />;
  return (
    <Stack gap="sm">
      <CostFigures answer={data} />
      <Units filters={filters} />
      <TimeChart
        title="Cost"
        about={`Of what has a known price, by ${by.map((one) => dimensionWords[one].toLowerCase()).join(' and ')}`}
        kind="bars"
        series={lines.map(({ series }) => series)}
        rows={toRows(data, (at) =>
          Object.fromEntries(lines.map(({ series, line }) => [series.name, line.points.cost[at] ?? null])),
        )}
        format={formatMoney}
      />
      <Group justify="space-between">
        <Remark>The file has days in UTC, with tokens, images, seconds and whatever else is billed.</Remark>
        <Button
          component="a"
          variant="default"
          leftSection={<Icon name="download" size={16} />}
          href={toCsvHref(filters, by)}
          download="postern-usage.csv"
        >
          Export CSV
        </Button>
      </Group>
      <SplitTable
        answer={data}
        lines={lines}
        by={by}
        onNarrow={(values) => onNarrow({ ...filters, values: { ...filters.values, ...values } })}
      />
      <Forecasts />
    </Stack>
  );
}

function toCsvHref(filters: Filters, by: readonly Dimension[]): string {
  const groups = ['day', ...by.filter((one) => usageGroups.includes(one))].join(',');
  return toAddress('GET /api/usage', { query: { ...toUsageQuery(filters), by: groups, format: 'csv' } });
}

function CostFigures({ answer: { total, comparison } }: { readonly answer: Answer }) {
  const { cost, requests, unpriced, saved, savedItems, cached, inputTokens, outputTokens, attempts, failedAttempts } =
    total.figures;
  const before = comparison?.isCovered === true ? Number(comparison.figures.cost) : undefined;
  const priced = requests - unpriced;
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="sm">
      <Tile
        label="Cost"
        value={formatMoney(cost)}
        note={comparison === null ? `${formatCompact(requests)} requests` : changeWords(Number(cost), before)}
      />
      <Tile
        label="Per 1,000 requests"
        value={priced === 0 ? '–' : formatMoney((Number(cost) / priced) * 1000)}
        note={unpriced === 0 ? 'All have a price' : `Without ${formatCompact(unpriced)} of unknown price`}
      />
      <Tile
        label="Tokens"
        value={formatCompact(inputTokens + outputTokens)}
        note={`${formatCompact(inputTokens)} in, ${formatCompact(outputTokens)} out`}
      />
      <Tile
        label="Saved by caching"
        value={formatMoney(saved)}
        note={`${formatCompact(savedItems)} items of ${formatCompact(cached)} requests`}
      />
      <Tile
        label="Saved by failover"
        value={formatCompact(Math.max(0, failedAttempts - total.figures.failed))}
        note={`Failed attempts with a successful retry, of ${formatCompact(attempts)}`}
      />
    </SimpleGrid>
  );
}

type UnitCounts = Usage['total']['units'];

const unitWords: readonly (readonly [Exclude<keyof UnitCounts, 'toolCalls'>, string])[] = [
  ['cachedTokens', 'cached tokens'],
  ['reasoningTokens', 'reasoning tokens'],
  ['images', 'images'],
  ['seconds', 'seconds'],
  ['characters', 'characters'],
];

/** What is billed besides tokens, such as images or seconds, added up by whole hours. */
function Units({ filters }: { readonly filters: Filters }) {
  const { from, to, ...others } = toUsageQuery(filters);
  const { data } = useQuery({
    queryKey: ['usage', 'units', filters],
    queryFn: ({ signal }) => ask('GET /api/usage', { query: { from, to, ...others, by: 'operation' }, signal }),
  });
  const units = data?.total.units ?? {};
  const counted = unitWords.flatMap(([name, words]) => {
    const count = units[name];
    return typeof count === 'number' && count > 0 ? [`${formatCount(Math.round(count * 10) / 10)} ${words}`] : [];
  });
  const tools = Object.values(units.toolCalls ?? {}).reduce((sum, one) => sum + one, 0);
  if (tools > 0) counted.push(`${formatCount(tools)} tool calls`);
  if (counted.length === 0) return null;
  return <Muted>Also counted, by whole hours: {counted.join(', ')}.</Muted>;
}

function toUsageQuery(filters: Filters) {
  const { code: _, cache: __, outcome: ___, ...query } = toSeriesQuery(filters, Date.now());
  return query;
}

type Spender = Pick<Key | Project, 'id' | 'budgets'> & { readonly name: string; readonly path: string };

const mostSpenders = 200;

/** Draws when each budget will be used up at the present pace, with a band for a pace that is a third slower or faster. */
function Forecasts() {
  const { data } = useQuery({
    queryKey: ['budgets', 'forecasts'],
    queryFn: async ({ signal }): Promise<Spender[]> => {
      const [keys, projects] = await Promise.all([
        ask('GET /api/keys', { query: { limit: mostSpenders, state: 'active' }, signal }),
        ask('GET /api/projects', { signal }),
      ]);
      return [
        ...keys.items.map(({ id, budgets, document }) => ({
          id,
          budgets,
          name: document.name ?? id,
          path: `/keys/${encodeURIComponent(id)}`,
        })),
        ...projects.items.map(({ id, budgets, document }) => ({
          id,
          budgets,
          name: typeof document.name === 'string' ? document.name : id,
          path: `/keys/projects/${encodeURIComponent(id)}`,
        })),
      ];
    },
    refetchInterval: 60_000,
  });
  const rows = (data ?? [])
    .flatMap(({ budgets, ...spender }) =>
      budgets.map((budget) => ({ spender, budget, share: Number(budget.spent) / Number(budget.amount) })),
    )
    .sort((a, b) => b.share - a.share)
    .slice(0, 20);
  return (
    <Paper withBorder p="sm" component="section" aria-label="Budgets">
      <Title order={2} size="h5" mb="xs">
        Budgets
      </Title>
      {data !== undefined && rows.length === 0 && <Muted>No key and no project has a budget.</Muted>}
      {rows.length > 0 && (
        <DataTable
          verticalSpacing={4}
          isNamed
          stacks
          columns={['Key or project', 'Spent', 'Ends at this pace']}
          rows={rows.map(({ spender, budget }) => ({
            id: `${spender.path} ${budget.every}`,
            cells: [
              <Link key="whose" href={spender.path} className="fact-link">
                {spender.name}
              </Link>,
              `${formatMoney(budget.spent)} of ${formatMoney(budget.amount)} ${periodWords[budget.every]}`,
              forecastWords(budget, Date.now()),
            ],
          }))}
        />
      )}
    </Paper>
  );
}
