/** Figures with target 0 that report the first violation. */

import type { Figure } from '../../promise.ts';

const shownCharacters = 300;

/** `basis`: how much was searched. */
export function none(name: string, found: readonly string[], basis = ''): Figure {
  const first = found[0]?.slice(0, shownCharacters);
  const nothing = basis === '' ? '0' : `0 (${basis})`;
  const measured = first === undefined ? nothing : `${found.length}, such as ${first}`;
  return { name, bar: '0', measured, met: found.length === 0, broken: found.length > 0 };
}

export interface Violations {
  add(what: string): void;
  /** The figure: none of so many, and of none at all nothing is shown. */
  outOf(total: number): Figure;
}

/** Counts what must never happen. */
export function createViolations(name: string): Violations {
  const found: string[] = [];
  return {
    add: (what) => void found.push(what),
    outOf(total) {
      const figure = none(name, found);
      const of = `of ${total.toLocaleString('en-US')}`;
      return total === 0
        ? { ...figure, measured: `0 ${of}`, met: false, broken: true }
        : { ...figure, measured: figure.measured.replace(/^\d+/, (count) => `${count} ${of}`) };
    },
  };
}

/** Several figures as one: met if all are; else it shows the first that is not. */
export function allOf(name: string, figures: readonly Figure[]): Figure {
  const bad = figures.find(({ met }) => !met);
  const measured =
    bad === undefined ? figures.map((figure) => figure.measured).join(', ') : `${bad.name}: ${bad.measured}`;
  return { name, bar: '0', measured, met: bad === undefined, broken: figures.some(({ broken }) => broken === true) };
}
