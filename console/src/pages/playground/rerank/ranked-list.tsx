/** Shows ranked documents of one model, or of two side by side with lines between the ranks. */

import { Text, VisuallyHidden } from '@mantine/core';
import { type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { Remark } from '../../../parts/layout/text.tsx';
import { Icon } from '../../../parts/marks/icon.tsx';
import { markWords, type RankedDocument, type Ranking } from './ranking.ts';

/** Height of a compact row in pixels, as in the style sheet. */
const rowHeight = 76;
const width = 56;

interface RankLinesProps {
  readonly left: Ranking;
  readonly right: Ranking;
  readonly titles: readonly [string, string];
  readonly query: string;
}

export function RankLines({ left, right, titles, query }: RankLinesProps) {
  const [active, setActive] = useState<number>();
  const places = new Map(right.documents.map(({ index }, rank) => [index, rank]));
  const rows = Math.max(left.documents.length, right.documents.length);
  const shared = { query, compact: true, active, onActive: setActive } as const;
  return (
    <div className="rank-pair">
      <div>
        <Title>{titles[0]}</Title>
        <RankedList ranking={left} label={`Order of ${titles[0]}`} {...shared} />
      </div>
      <svg
        className="rank-lines"
        width={width}
        height={rows * rowHeight}
        viewBox={`0 0 ${width} ${rows * rowHeight}`}
        aria-hidden="true"
      >
        {left.documents.map(({ index }, rank) => {
          const other = places.get(index) ?? rank;
          const [from, to] = [toMiddle(rank), toMiddle(other)];
          return (
            <path
              key={index}
              d={`M0 ${from} C${width / 2} ${from} ${width / 2} ${to} ${width} ${to}`}
              className="rank-line"
              data-way={other === rank ? 'same' : other < rank ? 'up' : 'down'}
              data-active={active === index || undefined}
            />
          );
        })}
      </svg>
      <div>
        <Title>{titles[1]}</Title>
        <RankedList ranking={right} label={`Order of ${titles[1]}`} {...shared} />
      </div>
    </div>
  );
}

const toMiddle = (rank: number): number => rank * rowHeight + (rowHeight - 8) / 2;

const Title = ({ children }: { readonly children: string }) => (
  <Text size="sm" fw={600} className="rank-title" title={children}>
    {children}
  </Text>
);

/** Limit of shown documents; the model ranks all. */
const mostShown = 200;

interface RankedListProps {
  readonly ranking: Ranking;
  readonly query: string;
  readonly label: string;
  /** Whether rows have the same height, so that lines can be drawn between two lists. */
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
      {!ranking.isRanked && <Remark mb={6}>{label}; nothing is ranked yet</Remark>}
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
        <Remark>
          The first {mostShown} of {ranking.documents.length} are shown.
        </Remark>
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

const Marked = ({ text, query }: { readonly text: string; readonly query: string }) =>
  markWords(text, query).map(({ text: piece, isMarked, at }) =>
    isMarked ? (
      <mark key={at} className="rank-mark">
        {piece}
      </mark>
    ) : (
      <span key={at}>{piece}</span>
    ),
  );

const scoreDigits = new Intl.NumberFormat(undefined, { minimumFractionDigits: 3, maximumFractionDigits: 3 });

const Score = ({
  document: { score, share },
  isRanked,
}: {
  readonly document: RankedDocument;
  readonly isRanked: boolean;
}) => (
  <div className="rank-score" style={isRanked ? undefined : { visibility: 'hidden' }}>
    <span className="rank-track" aria-hidden="true">
      <span className="rank-bar" style={{ transform: `scaleX(${Math.max(0, Math.min(1, share))})` }} />
    </span>
    <span className="rank-value">{toWords(score, isRanked)}</span>
  </div>
);

function toWords(score: number | undefined, isRanked: boolean): string {
  if (score !== undefined) return scoreDigits.format(score);
  return isRanked ? 'left out' : '';
}

const moveMs = 650;
const staggerMs = 35;
const mostStaggered = 12;

/** Animates the items of a list, which have `data-item`, to their new positions when `order` changes. */
function useMoves(list: RefObject<HTMLElement | null>, order: string): void {
  const before = useRef<ReadonlyMap<string, number>>(new Map());
  const lastOrder = useRef(order);

  useLayoutEffect(() => {
    const items = [...(list.current?.querySelectorAll<HTMLElement>('[data-item]') ?? [])];
    const now = new Map(items.map((item) => [item.dataset.item ?? '', item.offsetTop]));
    const hasMoved = lastOrder.current !== order;
    lastOrder.current = order;
    if (hasMoved && !wantsLessMotion()) moveAll(items, before.current, now);
    before.current = now;
  });
}

function moveAll(items: HTMLElement[], before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>): void {
  for (const [rank, item] of items.entries()) {
    const name = item.dataset.item ?? '';
    const [from, to] = [before.get(name), now.get(name)];
    if (from === undefined || to === undefined || from === to) continue;
    item.animate([{ transform: `translateY(${from - to}px)` }, { transform: 'none' }], {
      duration: moveMs,
      delay: Math.min(rank, mostStaggered) * staggerMs,
      easing: 'cubic-bezier(0.22, 1, 0.36, 1)',
      fill: 'backwards',
    });
  }
}

const wantsLessMotion = (): boolean => window.matchMedia('(prefers-reduced-motion: reduce)').matches;
