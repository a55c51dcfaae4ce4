/** A few days as a line, no larger than a word. */

interface TrendProps {
  readonly values: readonly number[];
  /** What it shows, in words. */
  readonly label: string;
  /** In pixels. */
  readonly width?: number;
  readonly height?: number;
}

export function Trend({ values, label, width = 96, height = 24 }: TrendProps) {
  const most = Math.max(1, ...values);
  const step = values.length < 2 ? 0 : (width - 2) / (values.length - 1);
  const points = values.map((value, index) => `${1 + index * step},${height - 2 - (value / most) * (height - 4)}`);
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      className="trend"
      preserveAspectRatio="none"
    >
      <title>{label}</title>
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke="currentColor"
        strokeWidth={1.6}
        strokeLinejoin="round"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}
