/** What was typed into a tab: it is still there after a reload, and after signing in again. */

import { useCallback, useState } from 'react';
import { readDraft, writeDraft } from '../../parts/forms/draft.ts';

export type Put<T> = (change: Partial<T>) => void;

/** What the address asked for wins over what was kept. */
export function useKept<T extends object>(name: string, initial: T, wanted: Partial<T> = {}): readonly [T, Put<T>] {
  const key = `playground.${name}`;
  const [value, setValue] = useState<T>(() => ({ ...initial, ...onlyLike(readDraft(key) ?? {}, initial), ...wanted }));
  const put = useCallback(
    (change: Partial<T>) => {
      setValue((before) => {
        const next = { ...before, ...change };
        writeDraft(key, next);
        return next;
      });
    },
    [key],
  );
  return [value, put];
}

/** What an older page kept may be of other kinds. */
function onlyLike<T extends object>(draft: Readonly<Record<string, unknown>>, initial: T): Partial<T> {
  const fitting = Object.entries(draft).filter(
    ([name, value]) => name in initial && typeof value === typeof Reflect.get(initial, name),
  );
  return Object.fromEntries(fitting) as Partial<T>;
}
