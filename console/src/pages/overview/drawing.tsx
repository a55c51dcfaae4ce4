/**
 * Draws a chart. The live view draws four of them every second: this takes a millisecond, where a library of charts took ninety
 * for the four. It also keeps that library out of the first page.
 */

import { useElementSize } from '@mantine/hooks';
import { memo, type PointerEvent, useState } from 'react';
import {
  barX,
  highest,
  lonely,
  type Plot,
  stack,
  toArea,
  toBars,
  toLine,
  toMarks,
  toTicks,
  type Value,
  xOf,
  yOf,
} from './chart-geometry.ts';

export interface Series {
  readonly name: string;
  readonly label: string;
  readonly color: string;
}

/** At a time: a value for each series, null where nothing is known. */
export type ChartRow = Readonly<Record<string, string | number | null>> & { readonly time: string };

/** `teal.6` as Mantine's variable of that colour. */
export const toColor = (color: string): string => `var(--mantine-color-${color.replace('.', '-')})`;

export const outcomeSeries: readonly Series[] = [
  { name: 'ok', label: 'OK', color: 'teal.6' },
  { name: 'error', label: 'Failed', color: 'red.6' },
  { name: 'refused', label: 'Refused', color: 'orange.6' },
  { name: 'aborted', label: 'Client left', color: 'gray.6' },
  { name: 'cut', label: 'Broke off', color: 'grape.6' },
  { name: 'lost', label: 'Unknown', color: 'indigo.6' },
];

export const latencySeries: readonly Series[] = [
  { name: 'p50', label: 'Half within', color: 'teal.6' },
  { name: 'p95', label: '95 % within', color: 'blue.6' },
  { name: 'p99', label: '99 % within', color: 'orange.6' },
];

export const meanSeries: readonly Series[] = [{ name: 'mean', label: 'Mean', color: 'blue.6' }];

export const tokenSeries: readonly Series[] = [
  { name: 'input', label: 'In', color: 'blue.6' },
  { name: 'output', label: 'Out', color: 'teal.6' },
];

/** Of lists: what upstreams were asked for, and what was known. */
export const itemSeries: readonly Series[] = [
  { name: 'asked', label: 'Asked for', color: 'blue.6' },
  { name: 'known', label: 'Remembered', color: 'teal.6' },
];

export const costSeries: readonly Series[] = [{ name: 'cost', label: 'Cost', color: 'violet.6' }];

interface DrawingProps {
  readonly kind: 'area' | 'bars' | 'lines';
  /** What it shows, in words. */
  readonly label: string;
  /** In pixels. */
  readonly height: number;
  readonly series: readonly Series[];
  readonly rows: readonly ChartRow[];
  format(value: number): string;
}

const axisWidth = 58;
const footHeight = 20;
const markWidth = 104;
const right = 10;
const top = 8;

export const Drawing = memo(function Drawing({ kind, label, height, series, rows, format }: DrawingProps) {
  const { ref, width } = useElementSize();
  const [pointed, setPointed] = useState<number>();
  const plot: Plot = {
    left: axisWidth,
    top,
    width: Math.max(0, width - axisWidth - right),
    height: height - top - footHeight,
  };
  const place = (at: number): number => (kind === 'bars' ? barX : xOf)(at, rows.length, plot);

  function point({ clientX, currentTarget }: PointerEvent): void {
    if (rows.length === 0) return;
    const share = (clientX - currentTarget.getBoundingClientRect().left - plot.left) / Math.max(1, plot.width);
    const at = kind === 'bars' ? Math.floor(share * rows.length) : Math.round(share * (rows.length - 1));
    setPointed(Math.min(rows.length - 1, Math.max(0, at)));
  }

  return (
    <div
      ref={ref}
      className="drawing"
      role="img"
      aria-label={label}
      style={{ height }}
      onPointerMove={point}
      onPointerLeave={() => setPointed(undefined)}
    >
      {width > 0 && (
        <svg width={width} height={height} aria-hidden="true" focusable="false">
          <Shapes kind={kind} series={series} rows={rows} plot={plot} format={format} />
          {toMarks(rows.length, plot.width, markWidth).map((at) => (
            <text key={at} x={place(at)} y={height - 4} textAnchor={anchorOf(at, rows.length)}>
              {rows[at]?.time}
            </text>
          ))}
          {pointed !== undefined && (
            <line
              x1={place(pointed)}
              x2={place(pointed)}
              y1={plot.top}
              y2={plot.top + plot.height}
              className="pointed"
            />
          )}
        </svg>
      )}
      {pointed !== undefined && (
        <Told
          row={rows[pointed]}
          series={series}
          format={format}
          x={place(pointed)}
          isRight={place(pointed) > width / 2}
        />
      )}
    </div>
  );
});

const anchorOf = (at: number, count: number): 'start' | 'middle' | 'end' =>
  at === count - 1 ? 'end' : at === 0 ? 'start' : 'middle';

interface ShapesProps extends Pick<DrawingProps, 'kind' | 'series' | 'rows' | 'format'> {
  readonly plot: Plot;
}

function Shapes({ kind, series, rows, plot, format }: ShapesProps) {
  const columns = series.map(({ name }) => rows.map((row) => toValue(row[name])));
  const layers = kind === 'lines' ? [] : stack(columns);
  const ticks = toTicks(highest(kind === 'lines' ? columns : layers.map(({ high }) => high)));
  const most = ticks.at(-1) ?? 1;
  return (
    <>
      {ticks.map((tick) => (
        <g key={tick}>
          <line
            x1={plot.left}
            x2={plot.left + plot.width}
            y1={yOf(tick, plot, most)}
            y2={yOf(tick, plot, most)}
            className="grid-line"
          />
          <text x={plot.left - 8} y={yOf(tick, plot, most) + 4} textAnchor="end">
            {format(tick)}
          </text>
        </g>
      ))}
      {series.map(({ name, color }, at) => {
        const layer = layers[at];
        const fill = toColor(color);
        if (kind === 'bars') {
          return <path key={name} d={layer === undefined ? '' : toBars(layer, plot, most)} style={{ fill }} />;
        }
        const values = columns[at] ?? [];
        // What is nought throughout would only draw its line over that of another.
        if (at > 0 && highest([values]) === 0) return null;
        return (
          <g key={name}>
            {layer !== undefined && <path d={toArea(layer, plot, most)} style={{ fill }} className="area" />}
            <path d={toLine(layer?.high ?? values, plot, most)} style={{ stroke: fill }} className="line" />
            {lonely(values).map((one) => (
              <circle
                key={one}
                cx={xOf(one, values.length, plot)}
                cy={yOf((layer?.high ?? values)[one] ?? 0, plot, most)}
                r={2.5}
                style={{ fill }}
              />
            ))}
          </g>
        );
      })}
    </>
  );
}

const toValue = (value: string | number | null | undefined): Value => (typeof value === 'number' ? value : undefined);

interface ToldProps extends Pick<DrawingProps, 'series' | 'format'> {
  readonly row: ChartRow | undefined;
  readonly x: number;
  readonly isRight: boolean;
}

/** Beside the pointer, on the side where there is room. */
function Told({ row, series, format, x, isRight }: ToldProps) {
  if (row === undefined) return null;
  return (
    <div className="told" style={{ left: x, transform: `translateX(${isRight ? 'calc(-100% - 10px)' : '10px'})` }}>
      <div className="told-time">{row.time}</div>
      {series.map(({ name, label, color }) => {
        const value = toValue(row[name]);
        return (
          <div key={name} className="told-line">
            <span className="legend-mark" style={{ backgroundColor: toColor(color) }} />
            <span>{label}</span>
            <span className="told-value">{value === undefined ? '–' : format(value)}</span>
          </div>
        );
      })}
    </div>
  );
}
