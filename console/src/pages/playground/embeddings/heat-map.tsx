/** Shows the similarities of texts as a table with coloured cells, so that screen readers can read it. */

import { Text, VisuallyHidden } from '@mantine/core';
import { type KeyboardEvent, useRef, useState } from 'react';
import { Remark } from '../../../parts/layout/text.tsx';
import { toColours } from './colour.ts';

export type Pair = readonly [row: number, column: number];

interface HeatMapProps {
  readonly rows: readonly (readonly number[])[];
  readonly texts: readonly string[];
  readonly active: Pair | undefined;
  onActive(pair: Pair | undefined): void;
  readonly label: string;
}

const mostWithNumbers = 9;
/** Width of the row headings in pixels. */
const headWidth = 28;
const mostCell = 84;
const mostWidth = 452;
const digits = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const exactDigits = new Intl.NumberFormat(undefined, { minimumFractionDigits: 4, maximumFractionDigits: 4 });

export function HeatMap({ rows, texts, active, onActive, label }: HeatMapProps) {
  const table = useRef<HTMLTableElement>(null);
  const [focused, setFocused] = useState<Pair>([0, 0]);
  const toShare = spread(rows);
  const withNumbers = rows.length <= mostWithNumbers;

  function move(event: KeyboardEvent): void {
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next: Pair = [clamp(focused[0] + step[0], rows.length), clamp(focused[1] + step[1], rows.length)];
    setFocused(next);
    table.current?.querySelector<HTMLElement>(`[data-cell="${next.join('-')}"]`)?.focus();
  }

  return (
    <div>
      <table
        ref={table}
        className="heat"
        data-large={!withNumbers || undefined}
        style={{ maxWidth: headWidth + Math.min(mostWidth, rows.length * mostCell) }}
        onKeyDown={move}
        onMouseLeave={() => onActive(undefined)}
      >
        <caption>
          <VisuallyHidden>{label}</VisuallyHidden>
        </caption>
        <thead>
          <tr>
            <td />
            {texts.map((text, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a text is identified by its position
              <th key={column} scope="col" title={text}>
                {column + 1}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a text is identified by its position
            <tr key={i}>
              <th scope="row" title={texts[i]}>
                {i + 1}
              </th>
              {row.map((value, j) => {
                const isSelf = i === j;
                const colours = toColours(toShare(value));
                const isActive = active !== undefined && active[0] === i && active[1] === j;
                return (
                  <td
                    // biome-ignore lint/suspicious/noArrayIndexKey: a text is identified by its position
                    key={j}
                    data-cell={`${i}-${j}`}
                    data-self={isSelf || undefined}
                    data-active={isActive || undefined}
                    tabIndex={focused[0] === i && focused[1] === j ? 0 : -1}
                    style={isSelf ? undefined : { background: colours.background, color: colours.text }}
                    onFocus={() => {
                      setFocused([i, j]);
                      onActive([i, j]);
                    }}
                    onBlur={() => onActive(undefined)}
                    onMouseEnter={() => onActive([i, j])}
                  >
                    <span className="heat-cell">
                      {withNumbers ? <span>{format(value)}</span> : <VisuallyHidden>{format(value)}</VisuallyHidden>}
                    </span>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      <Scale rows={rows} />
      <Text size="xs" className="heat-pair" aria-live="off">
        {describe(active, rows, texts)}
      </Text>
    </div>
  );
}

const steps: Readonly<Record<string, Pair>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

const clamp = (place: number, count: number): number => Math.max(0, Math.min(count - 1, place));
const format = (value: number): string => (Number.isNaN(value) ? 'none' : digits.format(value));

function describe(active: Pair | undefined, rows: readonly (readonly number[])[], texts: readonly string[]): string {
  if (active === undefined) return 'Point at a cell, or move with the arrow keys, to see which two texts it compares.';
  const [i, j] = active;
  const value = rows[i]?.[j] ?? Number.NaN;
  const number = Number.isNaN(value) ? 'no direction to compare' : exactDigits.format(value);
  return `${i + 1} and ${j + 1}: ${number}. “${toShort(texts[i])}” and “${toShort(texts[j])}”`;
}

const mostCharacters = 80;
const toShort = (text = ''): string => (text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text);

/** A scale for colours. It spans the range between different texts, because many models find all texts similar. */
function spread(rows: readonly (readonly number[])[]): (value: number) => number {
  const [low, high] = rangeOf(rows);
  return (value) => (high === low ? 1 : (value - low) / (high - low));
}

function rangeOf(rows: readonly (readonly number[])[]): readonly [low: number, high: number] {
  const others = rows.flatMap((row, i) => row.filter((value, j) => j !== i && !Number.isNaN(value)));
  return others.length === 0 ? [0, 1] : [Math.min(...others), Math.max(...others)];
}

function Scale({ rows }: { readonly rows: readonly (readonly number[])[] }) {
  const [low, high] = rangeOf(rows);
  const shades = [0, 0.2, 0.4, 0.6, 0.8, 1].map((share) => toColours(share).background);
  return (
    <div className="heat-scale">
      <Remark>less alike {digits.format(low)}</Remark>
      <span style={{ background: `linear-gradient(90deg, ${shades.join(', ')})` }} aria-hidden="true" />
      <Remark>{digits.format(high)} more alike</Remark>
    </div>
  );
}
