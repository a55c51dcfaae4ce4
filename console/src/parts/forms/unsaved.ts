/** Forms that were edited and not saved: whoever leaves one is asked first, wherever the way leads. */

import { useEffect, useId } from 'react';

const edited = new Set<string>();

/** Asks; set by whoever can show a dialog. */
let ask: () => Promise<boolean> = async () => true;
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
