/** Draws a small trend line without the chart code, so that the first paint does not wait for that code. */

import './sparkline.css';
import { memo } from 'react';

interface SparklineProps {
  readonly values: readonly (number | null)[];
  readonly tone?: 'accent' | 'bad';
}

const width = 120;
const height = 28;
const margin = 2;

export const Sparkline = memo(function Sparkline({ values, tone = 'accent' }: SparklineProps) {
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      width="100%"
      height={height}
      preserveAspectRatio="none"
      className={`sparkline sparkline-${tone}`}
      aria-hidden="true"
      focusable="false"
    >
      <path d={toPath(values)} vectorEffect="non-scaling-stroke" />
    </svg>
  );
});

function toPath(values: readonly (number | null)[]): string {
  const most = Math.max(0, ...values.map((value) => value ?? 0));
  const step = width / Math.max(1, values.length - 1);
  let path = '';
  let isDrawing = false;
  for (const [at, value] of values.entries()) {
    if (value === null) {
      isDrawing = false;
      continue;
    }
    const y = most === 0 ? height - margin : height - margin - (value / most) * (height - 2 * margin);
    path += `${isDrawing ? 'L' : 'M'}${(at * step).toFixed(1)} ${y.toFixed(1)}`;
    isDrawing = true;
  }
  return path;
}
