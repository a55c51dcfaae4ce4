/** Lets the items of a list move to where they stand now, rather than jump there. */

import { type RefObject, useLayoutEffect, useRef } from 'react';

const moveMs = 650;
const staggerMs = 35;
const mostStaggered = 12;

/** The list's children bear `data-item`; `order` changes when they stand differently. */
export function useMoves(list: RefObject<HTMLElement | null>, order: string): void {
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
