/** Reads when keys were last used, and sorts lists of keys by that or by their traffic. */

import type * as z from 'zod';
import { wholeStretch } from '../../core/store/series.ts';
import type { AdminContext } from '../context.ts';
import { createRecently } from '../recently.ts';
import { numberOf, readTraffic } from '../traffic.ts';
import type { keyQuery } from './contract/keys.ts';
import { type AnyKey, isStored } from './key-view.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Limit of keys whose minute of last use is read; for further keys only the hour or day is known. */
const mostKeys = 100_000;

const recently = createRecently(15_000);

/** When each key was last used: the minute within the last two hours, else the hour or the day. */
const readLastUse = (context: AdminContext): Promise<ReadonlyMap<string, number>> =>
  recently(context, 'last use', async () => {
    const toMs = context.clock.nowMs();
    const asked = { ...wholeStretch, by: ['key'] as const, top: mostKeys, stepMs: minuteMs, wantsPoints: true };
    const [used, { lines, timesMs }] = await Promise.all([
      context.store.ledger.lastUse(toMs - 2 * dayMs),
      context.series.read({ ...asked, fromMs: toMs - 2 * hourMs, toMs }),
    ]);
    const found = new Map(used);
    for (const {
      names: [key = ''],
      isOthers,
      points,
    } of lines) {
      const atMs = timesMs[points.counts.requests?.findLastIndex((count) => count > 0) ?? -1];
      if (!isOthers && atMs !== undefined) found.set(key, Math.max(atMs, found.get(key) ?? 0));
    }
    return found;
  });

type Order = Pick<z.output<typeof keyQuery>, 'sort' | 'direction'>;

/** The keys in the requested order; keys without a figure count as having the least. */
export async function inOrder(
  keys: readonly AnyKey[],
  { sort, direction }: Order,
  context: AdminContext,
): Promise<readonly AnyKey[]> {
  if (sort === undefined) return keys;
  const sign = direction === 'asc' ? 1 : -1;
  if (sort === 'name') {
    const { compare } = new Intl.Collator('en', { numeric: true });
    const named = keys.map((key) => ({ key, name: isStored(key) && key.name !== '' ? key.name : key.id }));
    return named.sort((a, b) => sign * compare(a.name, b.name)).map(({ key }) => key);
  }
  const number = await numbersOf(sort, context);
  const numbers = keys.map((key) => ({ key, number: number(key.id) }));
  return numbers.sort((a, b) => sign * (a.number - b.number)).map(({ key }) => key);
}

async function numbersOf(sort: Exclude<Order['sort'], 'name' | undefined>, context: AdminContext) {
  if (sort === 'lastUsed') {
    const used = await readLastUse(context);
    return (id: string) => used.get(id) ?? -1;
  }
  const traffic = await readTraffic(context, 'key');
  return (id: string) => numberOf(traffic.get(id), sort);
}
