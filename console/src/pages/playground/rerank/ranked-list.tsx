/** Documents in their order, each with its score, the way it came, and the words it shares with the query. */

import { Text, VisuallyHidden } from '@mantine/core';
import { useRef } from 'react';
import { Icon } from '../../../parts/marks/icon.tsx';
import { markWords } from './mark-words.ts';
import type { RankedDocument, Ranking } from './ranking.ts';
import { useMoves } from './use-moves.ts';

/** More are ranked all the same; a page is for looking. */
const mostShown = 200;

interface RankedListProps {
  readonly ranking: Ranking;
  readonly query: string;
  readonly label: string;
  /** Rows of one height, so that lines can be drawn between two lists. */
  readonly compact?: boolean;
  readonly active?: number | undefined;
  onActive?(index: number | undefined): void;
}

export function RankedList({ ranking, query, label, compact = false, active, onActive }: RankedListProps) {
  const list = useRef<HTMLOListElement>(null);
  const shown = ranking.documents.slice(0, mostShown);
  useMoves(list, shown.map(({ index }) => index).join(' '));
  return (
    <>
      <ol ref={list} className="rank-list" data-compact={compact || undefined} aria-label={label}>
        {shown.map((document, rank) => (
          <li
            key={document.index}
            data-item={document.index}
            className="rank-item"
            data-left={(ranking.isRanked && document.score === undefined) || undefined}
            data-active={active === document.index || undefined}
            data-first={(ranking.isRanked && rank === 0) || undefined}
            onMouseEnter={() => onActive?.(document.index)}
            onMouseLeave={() => onActive?.(undefined)}
          >
            <Rank document={document} rank={rank} isRanked={ranking.isRanked} />
            <div className="rank-body">
              <p className="rank-text">
                <Marked text={document.text} query={ranking.isRanked ? query : ''} />
              </p>
              <Score document={document} isRanked={ranking.isRanked} />
            </div>
          </li>
        ))}
      </ol>
      {ranking.documents.length > mostShown && (
        <Text size="xs" c="dimmed">
          The first {mostShown} of {ranking.documents.length} are shown.
        </Text>
      )}
    </>
  );
}

interface RankProps {
  readonly document: RankedDocument;
  readonly rank: number;
  readonly isRanked: boolean;
}

function Rank({ document: { index, score }, rank, isRanked }: RankProps) {
  if (!isRanked) return <span className="rank-number">{index + 1}</span>;
  if (score === undefined) {
    return (
      <span className="rank-number">
        <span aria-hidden="true">–</span>
        <VisuallyHidden>Left out</VisuallyHidden>
      </span>
    );
  }
  const climbed = index - rank;
  return (
    <span className="rank-place">
      <span className="rank-number">{rank + 1}</span>
      <span className={`rank-move ${climbed > 0 ? 'tone-good' : 'tone-quiet'}`}>
        {climbed !== 0 && <Icon name={climbed > 0 ? 'up' : 'down'} size={12} />}
        <span aria-hidden="true">{climbed === 0 ? '=' : Math.abs(climbed)}</span>
        <VisuallyHidden>{`was ${index + 1}`}</VisuallyHidden>
      </span>
    </span>
  );
}

function Marked({ text, query }: { readonly text: string; readonly query: string }) {
  return markWords(text, query).map(({ text: piece, isMarked, at }) =>
    isMarked ? (
      <mark key={at} className="rank-mark">
        {piece}
      </mark>
    ) : (
      <span key={at}>{piece}</span>
    ),
  );
}

const scoreDigits = new Intl.NumberFormat(undefined, { minimumFractionDigits: 3, maximumFractionDigits: 3 });

function Score({
  document: { score, share },
  isRanked,
}: {
  readonly document: RankedDocument;
  readonly isRanked: boolean;
}) {
  return (
    <div className="rank-score">
      <span className="rank-track" aria-hidden="true">
        <span className="rank-bar" style={{ transform: `scaleX(${Math.max(0, Math.min(1, share))})` }} />
      </span>
      <span className="rank-value">{toWords(score, isRanked)}</span>
    </div>
  );
}

function toWords(score: number | undefined, isRanked: boolean): string {
  if (score !== undefined) return scoreDigits.format(score);
  return isRanked ? 'left out' : '';
}
