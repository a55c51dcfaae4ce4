/** Shows the key figures of the selected requests, compared with the previous time range. */

import { SimpleGrid } from '@mantine/core';
import type { Series, SeriesFigures } from '../../../../src/admin/contract.ts';
import { Tile } from '../charts/tile.tsx';
import { formatCompact, formatDuration, formatMoney, formatPercent } from '../words/format.ts';
import { percentileWords, resultWords } from '../words/labels.ts';
import { changeWords, shareAt } from './series-rows.ts';

const none = '–';

interface FiguresRowProps {
  readonly answer: Series | undefined;
  readonly isNarrow: boolean;
}

export function FiguresRow({ answer, isNarrow }: FiguresRowProps) {
  const now = answer?.total.figures;
  const comparison = answer?.comparison ?? undefined;
  const before = comparison?.isCovered === true ? comparison.figures : undefined;
  const change = (pick: (figures: SeriesFigures) => number | null | undefined): string => {
    if (now === undefined || comparison === undefined) return none;
    const value = pick(now);
    return value === null || value === undefined ? none : changeWords(value, before && (pick(before) ?? 0));
  };
  const part = (name: 'failed' | 'refused' | 'cancelled', whole: (figures: SeriesFigures) => number): string => {
    if (now === undefined) return none;
    const share = shareAt(now[name], whole(now));
    return `${share === null ? none : formatPercent(share)}; ${change((figures) => figures[name])}`;
  };
  const judged = ({ succeeded, failed }: SeriesFigures): number => succeeded + failed;
  const sent = ({ requests, refused }: SeriesFigures): number => requests - refused;
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: isNarrow ? 3 : 6 }} spacing="sm">
      <Tile label="Requests" value={now && formatCompact(now.requests)} note={change(({ requests }) => requests)} />
      <Tile label={resultWords.failed} value={now && formatCompact(now.failed)} note={part('failed', judged)} />
      <Tile
        label={resultWords.refused}
        value={now && formatCompact(now.refused)}
        note={part('refused', ({ requests }) => requests)}
      />
      <Tile label={resultWords.cancelled} value={now && formatCompact(now.cancelled)} note={part('cancelled', sent)} />
      <Tile
        label={percentileWords.p95}
        value={now && (now.duration === null ? none : formatDuration(now.duration.p95))}
        note={
          now?.duration ? `p50 ${formatDuration(now.duration.p50)}; ${change(({ duration }) => duration?.p95)}` : none
        }
      />
      <Tile
        label="Cost"
        value={now && formatMoney(now.cost)}
        note={
          now !== undefined && now.unpriced > 0
            ? `Without ${formatCompact(now.unpriced)} of unknown price`
            : change(({ cost }) => Number(cost))
        }
      />
    </SimpleGrid>
  );
}
