/** Keeps unsaved form input in this browser tab, across reloads, sign-in redirects and crashes. */

import { useEffect, useId } from 'react';
import { isMapping } from './documents.ts';

const prefix = 'postern.draft.';

export function readDraft(key: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(prefix + key) ?? 'null');
    return isMapping(value) ? { ...value } : undefined;
  } catch {
    // Broken, or the browser keeps nothing: then there is no draft.
    return undefined;
  }
}

export function writeDraft(key: string, values: object): void {
  try {
    sessionStorage.setItem(prefix + key, JSON.stringify(values));
  } catch {
    // Full, or switched off: the text is still on the page.
  }
}

export function dropDraft(key: string): void {
  try {
    sessionStorage.removeItem(prefix + key);
  } catch {
    // As above: what cannot be kept is not there either.
  }
}

/** At a sign-out, so that the next user of this tab does not see it. */
export function dropAllDrafts(): void {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key);
  } catch {
    // As above.
  }
}

const edited = new Set<string>();

/** Asks for confirmation; set by the part that can show a dialog. */
let ask: () => Promise<boolean> = async () => true;
/** Edited and unsaved forms: leaving one is confirmed first. */
export function whenLeaving(asker: () => Promise<boolean>): void {
  ask = asker;
}

/** Gives what has to be said before the form is left because it was saved, or because it was cancelled. */
export function useUnsaved(isEdited: boolean): () => void {
  const id = useId();
  useEffect(() => {
    if (!isEdited) return;
    edited.add(id);
    window.addEventListener('beforeunload', hold);
    return () => {
      edited.delete(id);
      if (edited.size === 0) window.removeEventListener('beforeunload', hold);
    };
  }, [isEdited, id]);
  return () => void edited.delete(id);
}

/** True at once where nothing would be left behind. */
export async function mayLeave(): Promise<boolean> {
  if (edited.size === 0) return true;
  if (!(await ask())) return false;
  edited.clear();
  return true;
}

export const isAnythingUnsaved = (): boolean => edited.size > 0;

function hold(event: BeforeUnloadEvent): void {
  if (edited.size > 0) event.preventDefault();
}
