/** React hooks that several playground tabs share. */

import { type DragEvent, useCallback, useEffect, useState } from 'react';
import { readDraft, writeDraft } from '../../parts/forms/draft.ts';
import type { Values } from '../../parts/snippets/share.ts';

type Put<T> = (change: Partial<T>) => void;

/** Keeps the values typed into a tab over a reload and a new sign-in. Values in the URL win over stored ones. */
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

/** Only those stored values whose type is still the same; an older version may have stored other types. */
function onlyLike<T extends object>(draft: Readonly<Record<string, unknown>>, initial: T): Partial<T> {
  const fitting = Object.entries(draft).filter(
    ([name, value]) => name in initial && typeof value === typeof Reflect.get(initial, name),
  );
  return Object.fromEntries(fitting) as Partial<T>;
}

/** Makes an element accept dropped files; it has `data-over` while files are dragged over it. */
export function useDrop(onFiles: (files: readonly File[]) => void) {
  const [isOver, setIsOver] = useState(false);
  return {
    'data-over': isOver || undefined,
    onDragOver(event: DragEvent) {
      // Otherwise the browser opens the file instead of the page.
      event.preventDefault();
      setIsOver(true);
    },
    onDragLeave() {
      setIsOver(false);
    },
    onDrop(event: DragEvent) {
      event.preventDefault();
      setIsOver(false);
      onFiles([...event.dataTransfer.files]);
    },
  };
}

/** An object URL for data of this page; revoked when it is not shown any more. */
export function useObjectUrl(blob: Blob | undefined): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (blob === undefined) return setUrl(undefined);
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return url;
}

export interface Run {
  readonly at: string;
  readonly values: Values;
}

const mostRuns = 20;
const keyOf = (draft: string): string => `playground.history.${draft}`;

export function readRuns(draft: string): readonly Run[] {
  const runs = readDraft(keyOf(draft))?.runs;
  return Array.isArray(runs) ? runs : [];
}

export function addRun(draft: string, values: Values): void {
  const others = readRuns(draft).filter((run) => JSON.stringify(run.values) !== JSON.stringify(values));
  writeDraft(keyOf(draft), { runs: [{ at: new Date().toISOString(), values }, ...others].slice(0, mostRuns) });
}
