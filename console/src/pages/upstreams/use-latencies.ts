/** How the latencies of upstreams moved since the page was opened: what was seen, a point each time the list came. */

import { useEffect, useRef, useState } from 'react';
import type { Upstream } from '../../../../src/admin/contract.ts';

const mostPoints = 60;

type Histories = ReadonlyMap<string, readonly (number | null)[]>;

export function useLatencies(upstreams: readonly Upstream[] | undefined, seenAtMs: number): Histories {
  const [histories, setHistories] = useState<Histories>(new Map());
  const lastSeen = useRef(0);
  useEffect(() => {
    if (upstreams === undefined || seenAtMs === lastSeen.current) return;
    lastSeen.current = seenAtMs;
    setHistories((before) => new Map(upstreams.map(({ id, latencyMs }) => [id, longer(before.get(id), latencyMs)])));
  }, [upstreams, seenAtMs]);
  return histories;
}

function longer(points: readonly (number | null)[] = [], latencyMs: number): readonly (number | null)[] {
  return [...points, latencyMs > 0 ? latencyMs : null].slice(-mostPoints);
}
