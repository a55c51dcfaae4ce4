/** Charts that load when they are looked at, keep their room meanwhile, and say in words what they show. */

import type { BarChartProps, LineChartProps } from '@mantine/charts';
import { Box, Skeleton } from '@mantine/core';
import { type ComponentType, lazy, type ReactNode, Suspense } from 'react';

interface ChartFacts {
  /** In pixels. */
  readonly height: number;
  /** What it shows, for those who do not see it: "Requests a second over the last hour, now 12". */
  readonly label: string;
}

const load = () => import('./charts-drawn.ts');
const LazyBar = lazy(async () => ({ default: (await load()).BarChart }));
const LazyLine = lazy(async () => ({ default: (await load()).LineChart }));

type Drawn<P> = Omit<P, 'h'> & ChartFacts;

export const BarChart = framed<BarChartProps>(LazyBar);
export const LineChart = framed<LineChartProps>(LazyLine);

function framed<P extends object>(Chart: ComponentType<P>) {
  return function Framed({ height, label, ...props }: Drawn<P>) {
    // What is left is P without the height, which is given here.
    const own = { ...props, h: height } as unknown as P;
    return (
      <Frame height={height} label={label}>
        <Chart {...own} />
      </Frame>
    );
  };
}

const Frame = ({ height, label, children }: ChartFacts & { readonly children: ReactNode }) => (
  <Box role="img" aria-label={label} h={height}>
    <Suspense fallback={<Skeleton height={height} radius="md" />}>{children}</Suspense>
  </Box>
);
