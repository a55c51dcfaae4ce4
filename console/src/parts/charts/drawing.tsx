/**
 * Draws charts. Four charts a second take 1 ms for the live view, where a chart library took 90 ms; without it, the first page also loads less code.
 */

import { useElementSize } from '@mantine/hooks';
import { memo, type PointerEvent, type ReactNode, useMemo, useState } from 'react';
import { percentileWords, resultWords } from '../words/labels.ts';
import {
  barX,
  type ChartRow,
  highest,
  lonely,
  type Mark,
  type Plot,
  type Series,
  stack,
  toArea,
  toBars,
  toEdge,
  toLine,
  toMarks,
  toTicks,
  toTimeMarks,
  type Value,
  xOf,
  yOf,
} from './chart-geometry.ts';

/** Mantine's CSS variable of a colour such as `teal.6`. */
export const toColor = (color: string): string => `var(--mantine-color-${color.replace('.', '-')})`;

/** The results of requests as series, each with the same colour everywhere. */
export const resultSeries: readonly Series[] = [
  { name: 'succeeded', label: resultWords.succeeded, color: 'teal.6' },
  { name: 'failed', label: resultWords.failed, color: 'red.6' },
  { name: 'refused', label: resultWords.refused, color: 'orange.6' },
  { name: 'cancelled', label: resultWords.cancelled, color: 'gray.6' },
];

export const latencySeries: readonly Series[] = [
  { name: 'p50', label: percentileWords.p50, color: 'teal.6' },
  { name: 'p95', label: percentileWords.p95, color: 'blue.6' },
  { name: 'p99', label: percentileWords.p99, color: 'orange.6' },
];

export const costSeries: readonly Series[] = [{ name: 'cost', label: 'Cost', color: 'violet.6' }];

/** What several charts of the same times share: the position of the pointer, and the action of dragging. */
export interface Linked {
  readonly at: number | undefined;
  onPoint(at: number | undefined): void;
  /** Called after a drag, with the first and the last position of the range. */
  onZoom?(from: number, to: number): void;
}

interface DrawingProps {
  readonly kind: 'area' | 'bars' | 'lines';
  /** The label for screen readers. */
  readonly label: string;
  readonly height: number;
  readonly series: readonly Series[];
  readonly rows: readonly ChartRow[];
  format(value: number): string;
  readonly linked?: Linked | undefined;
}

const axisWidth = 72;
const footHeight = 20;
/** Width of a letter in pixels, for the width of labels; the last label ends at the edge of the chart. */
const letterWidth = 6.4;
const labelShare = 1.6;
/** Width of a label with the time of day. */
const timeWidth = 8 * letterWidth;
const right = 10;
const top = 8;

export const Drawing = memo(function Drawing({ kind, series, rows, format, ...frame }: DrawingProps) {
  return (
    <ChartFrame {...frame} isBands={kind === 'bars'} series={series} rows={rows} format={format}>
      {(plot) => <Shapes kind={kind} series={series} rows={rows} plot={plot} format={format} />}
    </ChartFrame>
  );
});

interface ChartFrameProps extends Omit<DrawingProps, 'kind'> {
  /** Whether positions are bands side by side, as for bars, and not points on a line. */
  readonly isBands: boolean;
  readonly children: (plot: Plot) => ReactNode;
}

/** Draws the frame of a chart: its size, the time axis, and the values at the pointer. */
export function ChartFrame({ isBands, label, height, series, rows, format, linked, children }: ChartFrameProps) {
  const { ref, width } = useElementSize();
  const plot = useMemo(() => toPlot(width, height), [width, height]);
  const place = (at: number): number => (isBands ? barX : xOf)(at, rows.length, plot);
  const { pointed, dragged, ...listeners } = usePointer({ rows: rows.length, plot, isBands, linked });
  return (
    <div ref={ref} className="drawing" role="img" aria-label={label} style={{ height }} {...listeners}>
      {width > 0 && (
        <svg width={width} height={height} aria-hidden="true" focusable="false">
          {children(plot)}
          <TimeAxis rows={rows} plot={plot} height={height} place={place} />
          <Pointed plot={plot} at={pointed} from={dragged} place={place} />
        </svg>
      )}
      {pointed !== undefined && (
        <Tooltip
          row={rows[pointed]}
          series={series}
          format={format}
          x={place(pointed)}
          isRight={place(pointed) > width / 2}
        />
      )}
    </div>
  );
}

const toPlot = (width: number, height: number): Plot => ({
  left: axisWidth,
  top,
  width: Math.max(0, width - axisWidth - right),
  height: height - top - footHeight,
});

interface PointerOptions {
  readonly rows: number;
  readonly plot: Plot;
  /** Whether positions are bands side by side, as for bars, and not points on a line. */
  readonly isBands: boolean;
  readonly linked: Linked | undefined;
}

/** Tracks the position of the pointer, on this chart or on a linked one, and where a drag began. */
function usePointer({ rows, plot, isBands, linked }: PointerOptions) {
  const [own, setOwn] = useState<number>();
  const [dragged, setDragged] = useState<number>();
  const point = linked?.onPoint ?? setOwn;
  const pointed = linked === undefined ? own : linked.at;
  const zoom = linked?.onZoom;
  function placeOf({ clientX, currentTarget }: PointerEvent): number | undefined {
    if (rows === 0) return undefined;
    const share = (clientX - currentTarget.getBoundingClientRect().left - plot.left) / Math.max(1, plot.width);
    const at = isBands ? Math.floor(share * rows) : Math.round(share * (rows - 1));
    return Math.min(rows - 1, Math.max(0, at));
  }
  return {
    // The rows may have become fewer.
    pointed: pointed !== undefined && pointed < rows ? pointed : undefined,
    dragged,
    onPointerMove: (event: PointerEvent) => point(placeOf(event)),
    onPointerLeave: () => {
      point(undefined);
      setDragged(undefined);
    },
    // With a finger, the page scrolls.
    onPointerDown: (event: PointerEvent) => {
      if (zoom !== undefined && event.pointerType === 'mouse' && event.button === 0) setDragged(placeOf(event));
    },
    onPointerUp: (event: PointerEvent) => {
      const to = placeOf(event);
      setDragged(undefined);
      if (dragged !== undefined && to !== undefined && to !== dragged) {
        zoom?.(Math.min(dragged, to), Math.max(dragged, to));
      }
    },
  };
}

interface AxisProps {
  readonly rows: readonly Pick<ChartRow, 'time' | 'atMs'>[];
  readonly plot: Plot;
  readonly height: number;
  place(at: number): number;
}

const TimeAxis = ({ rows, plot, height, place }: AxisProps) =>
  marksOf(rows, plot.width).map(({ at, label }) => {
    // A label in the middle of a mark near the edge would be cut off.
    const isNearEnd = at === rows.length - 1 || place(at) > plot.left + plot.width - timeWidth / 2;
    return (
      <text key={at} x={place(at)} y={height - 4} textAnchor={isNearEnd ? 'end' : at === 0 ? 'start' : 'middle'}>
        {label}
      </text>
    );
  });

/** Positions of time labels: at round times where the rows have times, else evenly spread. */
function marksOf(rows: AxisProps['rows'], width: number): readonly Mark[] {
  const times = rows.flatMap(({ atMs }) => atMs ?? []);
  const round = times.length === rows.length ? toTimeMarks(times, Math.floor(width / (timeWidth * labelShare))) : [];
  if (round.length > 1) return round;
  const labels = rows.map(({ time }) => time);
  const most = Math.max(1, ...labels.map(({ length }) => length));
  return toMarks(rows.length, width, most * letterWidth * labelShare).map((at) => ({ at, label: labels[at] ?? '' }));
}

interface PointedProps {
  readonly plot: Plot;
  readonly at: number | undefined;
  readonly from: number | undefined;
  place(at: number): number;
}

function Pointed({ plot, at, from, place }: PointedProps) {
  if (at === undefined) return null;
  const x = place(at);
  const begin = from === undefined ? x : place(from);
  return (
    <>
      {begin !== x && (
        <rect
          x={Math.min(x, begin)}
          y={plot.top}
          width={Math.abs(x - begin)}
          height={plot.height}
          className="dragged"
        />
      )}
      <line x1={x} x2={x} y1={plot.top} y2={plot.top + plot.height} className="pointed" />
    </>
  );
}

interface ShapesProps extends Pick<DrawingProps, 'kind' | 'series' | 'rows' | 'format'> {
  readonly plot: Plot;
}

const Shapes = memo(function Shapes({ kind, series, rows, plot, format }: ShapesProps) {
  const own = series.filter(({ isDashed }) => isDashed !== true);
  const dashed = series.filter(({ isDashed }) => isDashed === true);
  const columnOf = ({ name }: Series): Value[] => rows.map((row) => toValue(row[name]));
  const columns = own.map(columnOf);
  const overlays = dashed.map(columnOf);
  const layers = kind === 'lines' ? [] : stack(columns);
  const heights = kind === 'lines' ? columns : layers.map(({ high }) => high);
  const ticks = toTicks(highest([...heights, ...overlays]));
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
      {own.map(({ name, color }, at) => {
        const layer = layers[at];
        const fill = toColor(color);
        if (kind === 'bars') {
          return <path key={name} d={layer === undefined ? '' : toBars(layer, plot, most)} style={{ fill }} />;
        }
        const values = columns[at] ?? [];
        // A series that is 0 throughout would hide the line of another.
        if (at > 0 && highest([values]) === 0) return null;
        const edge = layer === undefined ? values : at === 0 ? layer.high : toEdge(values, layer);
        return (
          <g key={name}>
            {layer !== undefined && <path d={toArea(layer, plot, most)} style={{ fill }} className="area" />}
            <path d={toLine(edge, plot, most)} style={{ stroke: fill }} className="line" />
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
      {dashed.map(({ name, color }, at) => (
        <path
          key={name}
          d={toLine(overlays[at] ?? [], plot, most)}
          style={{ stroke: toColor(color) }}
          className="line line-before"
        />
      ))}
    </>
  );
});

const toValue = (value: string | number | null | undefined): Value => (typeof value === 'number' ? value : undefined);

interface LegendMarkProps {
  readonly color: string;
  readonly isDashed?: boolean;
}

export const LegendMark = ({ color, isDashed = false }: LegendMarkProps) => (
  <span
    className={isDashed ? 'legend-mark legend-dashed' : 'legend-mark'}
    style={isDashed ? { borderColor: toColor(color) } : { backgroundColor: toColor(color) }}
  />
);

interface TooltipProps extends Pick<DrawingProps, 'series' | 'format'> {
  readonly row: ChartRow | undefined;
  readonly x: number;
  readonly isRight: boolean;
}

/** Shows the values beside the pointer, on the side with more room. */
function Tooltip({ row, series, format, x, isRight }: TooltipProps) {
  if (row === undefined) return null;
  return (
    <div className="told" style={{ left: x, transform: `translateX(${isRight ? 'calc(-100% - 10px)' : '10px'})` }}>
      <div className="told-time">{row.time}</div>
      {series.map(({ name, label, color, isDashed = false }) => {
        const value = toValue(row[name]);
        return (
          <div key={name} className="told-line">
            <LegendMark color={color} isDashed={isDashed} />
            <span>{label}</span>
            <span className="told-value">{value === undefined ? '–' : format(value)}</span>
          </div>
        );
      })}
    </div>
  );
}
