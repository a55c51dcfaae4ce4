/** Prints the figures as a table. */

import {
  addedTo,
  type Measurement,
  medianOf,
  type Row,
  ratioOf,
  requestsPerCpuSecond,
  type Series,
  spread,
  warmUpShares,
} from './measurement.ts';

const columns = ['', 'rps', 'spread', 'MB/s', 'p50 ms', 'p99 ms', 'p99.9 ms', 'CPU us', 'kernel us', 'RSS MB'];
const closedColumns = ['x bare', 'by CPU', 'x envoy'];
const openColumns = ['+p50 ms', '+p99 ms', 'p99 x bare'];

export function formatRow(row: Row): string {
  const find = (name: string): Series | undefined => row.series.find(({ subject }) => subject === name);
  const compare = (series: Series): string[] =>
    row.rate === undefined
      ? toRatios(series, find('bare'), find('envoy'))
      : toLags(series, find('direct'), find('bare'));
  const lines = row.series.map((series) =>
    series.void === undefined ? [...toCells(series), ...compare(series)] : [series.subject, `void: ${series.void}`],
  );
  const sizes = `request ${formatBytes(row.requestBytes)}, answer ${formatBytes(row.answerBytes)}`;
  const load = row.rate === undefined ? '' : `, ${row.rate} requests a second, ${row.placement}`;
  return `${row.payload}: ${row.title}
${sizes}, ${row.connections} connections, upstream ${row.upstream}${load}
${formatTable([[...columns, ...(row.rate === undefined ? closedColumns : openColumns)], ...lines])}
${formatWarmUp(row.series)}`;
}

/** What requests cost before everything was compiled, and how often that is the cost of the timed rounds. */
function formatWarmUp(series: readonly Series[]): string {
  const ends = ['to 1,000', 'to 10,000', 'to 50,000'];
  const lines = series
    .filter(({ warmUpUs, void: reason }) => reason === undefined && warmUpUs.some((us) => us !== undefined))
    .map((one) => {
      const steadyUs = medianOf(one, ({ cpuUs }) => cpuUs);
      const early = earlyUs(one.warmUpUs);
      const times = early === undefined || steadyUs === undefined ? undefined : early / steadyUs;
      return [one.subject, ...one.warmUpUs.map((us) => fixed(us, 0)), fixed(steadyUs, 0), fixed(times, 2)];
    });
  return `\n${formatTable([['warm-up, CPU us', ...ends, 'then', 'first 10,000 x then'], ...lines])}`;
}

/** Of the first fifth of the warm-up, both stretches of it together. */
function earlyUs([first, second]: Series['warmUpUs']): number | undefined {
  const [firstShare = 0, secondShare = 0] = warmUpShares;
  if (first === undefined || second === undefined) return undefined;
  return (first * firstShare + second * (secondShare - firstShare)) / secondShare;
}

function toRatios(series: Series, bare: Series | undefined, envoyProxy: Series | undefined): string[] {
  return [
    fixed(ratioOf(series, bare, rate), 2),
    fixed(ratioOf(series, bare, requestsPerCpuSecond), 2),
    fixed(ratioOf(series, envoyProxy, requestsPerCpuSecond), 2),
  ];
}

/** In an open loop all have the same rate, and what counts is what a proxy adds to going without. */
function toLags(series: Series, direct: Series | undefined, bare: Series | undefined): string[] {
  const added = (pick: (one: Measurement) => number): string => fixed(scaled(addedTo(direct, series, pick), 1e3), 2);
  return [
    added((one) => one.p50Us),
    added((one) => one.p99Us),
    fixed(
      ratioOf(series, bare, (one) => one.p99Us),
      2,
    ),
  ];
}

/** Postern beside the floor, a line a payload. */
export function formatSummary(rows: readonly Row[]): string {
  const shown = ['direct', 'nginx', 'envoy', 'raw', 'bare', 'postern', 'capped'].filter((name) =>
    rows.some(({ series }) => series.some(({ subject }) => subject === name)),
  );
  const lines = rows.map(({ payload, series }) => {
    const find = (name: string): Series | undefined => series.find(({ subject }) => subject === name);
    const postern = find('postern');
    const ratio = (pick: (one: Measurement) => number | undefined): string =>
      fixed(postern === undefined ? undefined : ratioOf(postern, find('bare'), pick), 2);
    const rates = shown.map((name) => toRate(find(name)));
    return [payload, ...rates, ratio(rate), ratio(requestsPerCpuSecond)];
  });
  return formatTable([['median rps', ...shown, 'postern / bare', 'by CPU'], ...lines]);
}

const rate = ({ rps }: Measurement): number => rps;

function toRate(series: Series | undefined): string {
  if (series === undefined) return '-';
  return series.void === undefined ? grouped(medianOf(series, rate)) : 'void';
}

function toCells(series: Series): string[] {
  const share = spread(series);
  return [
    series.subject,
    grouped(medianOf(series, rate)),
    series.rounds.length < 2 || share === undefined ? '-' : `${(share * 100).toFixed(0)} %`,
    fixed(
      medianOf(series, (one) => one.bytesPerSecond / 1e6),
      1,
    ),
    ...([(one) => one.p50Us, (one) => one.p99Us, (one) => one.p999Us] satisfies Parameters<typeof medianOf>[1][]).map(
      (pick) => fixed(scaled(medianOf(series, pick), 1e3), 2),
    ),
    fixed(
      medianOf(series, (one) => one.cpuUs),
      1,
    ),
    fixed(
      medianOf(series, (one) => one.kernelUs),
      1,
    ),
    // For a process that runs through all rounds, the last one is the most telling.
    fixed(scaled(series.rounds.at(-1)?.rssBytes, 1024 ** 2), 0),
  ];
}

const scaled = (value: number | undefined, by: number): number | undefined =>
  value === undefined ? undefined : value / by;

const fixed = (value: number | undefined, digits: number): string =>
  value === undefined ? '-' : value.toFixed(digits);

const grouped = (value: number | undefined): string =>
  value === undefined ? '-' : Math.round(value).toLocaleString('en-US');

function formatBytes(bytes: number): string {
  if (bytes < 10_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1e3).toFixed(0)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** The first column to the left, all others to the right; a short line's last cell may run on. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const full = rows.filter((row) => row.length === rows[0]?.length);
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...full.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) => {
      const isShort = row.length < widths.length;
      const cells = row.map((cell, column) => {
        if (column === 0) return cell.padEnd(Math.max(widths[0] ?? 0, 8));
        return isShort ? cell : cell.padStart(widths[column] ?? 0);
      });
      return `  ${cells.join('  ')}`;
    })
    .join('\n');
}
