/** The texts as points on a plane: what stands close is alike. */

import { Text } from '@mantine/core';
import { formatPercent } from '../../../parts/words/format.ts';
import type { Pair } from './heat-map.tsx';
import type { Projection } from './pca.ts';
import { toPlaces } from './places.ts';

const drawing = { width: 420, height: 280, margin: 34, radius: 13 } as const;
const { width, height, margin, radius } = drawing;

interface PlaneProps {
  readonly projection: Projection;
  readonly texts: readonly string[];
  readonly active: Pair | undefined;
  onActive(pair: Pair | undefined): void;
  readonly label: string;
}

export function Plane({ projection: { points, shares }, texts, active, onActive, label }: PlaneProps) {
  const places = toPlaces(points, drawing);
  const [from, to] = [places[active?.[0] ?? -1], places[active?.[1] ?? -1]];
  return (
    <figure className="plane">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label} onMouseLeave={() => onActive(undefined)}>
        <line x1={margin / 2} x2={width - margin / 2} y1={height / 2} y2={height / 2} className="plane-axis" />
        <line x1={width / 2} x2={width / 2} y1={margin / 2} y2={height - margin / 2} className="plane-axis" />
        {from !== undefined && to !== undefined && (
          <line x1={from.x} y1={from.y} x2={to.x} y2={to.y} className="plane-link" />
        )}
        {places.map(({ x, y }, index) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: pointing marks the text; the table says the same by keyboard
          <g
            // biome-ignore lint/suspicious/noArrayIndexKey: a text is told apart by its place
            key={index}
            className="plane-point"
            data-active={active?.includes(index) || undefined}
            transform={`translate(${x} ${y})`}
            onMouseEnter={() => onActive([index, index])}
          >
            <title>{texts[index]}</title>
            <circle r={radius} />
            <text dy="0.35em" textAnchor="middle">
              {index + 1}
            </text>
          </g>
        ))}
      </svg>
      <Text component="figcaption" size="xs" c="dimmed">
        Two directions of many: they show {formatPercent(Math.min(1, shares[0] + shares[1]))} of the differences.
      </Text>
    </figure>
  );
}
