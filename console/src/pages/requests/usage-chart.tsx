/** Usage as bars. */

import type { Usage } from '../../../../src/admin/contract.ts';
import { BarChart } from '../../parts/charts/charts.tsx';
import { formatCompact, formatCount, formatMoney } from '../../parts/words/format.ts';
import { type Group, groupWords, type Measure, measureOf, measureWords, toBars } from './usage-words.ts';

interface UsageChartProps {
  readonly usage: Usage;
  readonly by: Group;
  readonly measure: Measure;
  nameOf(value: string | null): string;
}

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
