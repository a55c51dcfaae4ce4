/** Two models on the same documents: their lists side by side, with a line from where one puts a document to where the other does. */

import { Text } from '@mantine/core';
import { useState } from 'react';
import { RankedList } from './ranked-list.tsx';
import type { Ranking } from './ranking.ts';

/** As the style sheet has the rows of a compact list. */
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

function Title({ children }: { readonly children: string }) {
  return (
    <Text size="sm" fw={600} className="rank-title" title={children}>
      {children}
    </Text>
  );
}
