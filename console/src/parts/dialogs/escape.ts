/** Makes the Escape key close only the topmost of several open layers. */

import { useEffect, useLayoutEffect, useRef, useState } from 'react';

/** An attribute of an element whose events dialogs ignore; dialogs listen at the window. */
const mark = 'data-mantine-stop-propagation';

/** For a dialog above all others: while it is open, Escape closes only this one, so that text typed into dialogs below is not lost. */
export function useEscapeAbove(opened: boolean, onEscape: () => void): void {
  const listener = useLatest(onEscape);
  useEffect(() => {
    if (!opened) return;
    const marked = new Set<Element>();
    const take = (): void => {
      for (const element of [document.body, document.activeElement]) {
        if (element === null || element.hasAttribute(mark)) continue;
        element.setAttribute(mark, 'true');
        marked.add(element);
      }
    };
    const hear = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && !event.isComposing) listener.current();
    };
    take();
    document.addEventListener('focusin', take);
    window.addEventListener('keydown', hear);
    return () => {
      document.removeEventListener('focusin', take);
      window.removeEventListener('keydown', hear);
      for (const element of marked) element.removeAttribute(mark);
    };
  }, [opened, listener]);
}

/** For layers below dialogs: Escape closes them only if no dialog is open and nothing else used the key. */
export function useEscapeBeneath(opened: boolean, onEscape: () => void): void {
  const listener = useLatest(onEscape);
  useEffect(() => {
    if (!opened) return;
    // Before the dialogs, which would be closed otherwise by the time this is called.
    const hear = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.isComposing || isWanted(event.target)) return;
      listener.current();
    };
    window.addEventListener('keydown', hear, { capture: true });
    return () => window.removeEventListener('keydown', hear, { capture: true });
  }, [opened, listener]);
}

function isWanted(target: EventTarget | null): boolean {
  if (document.querySelector('[aria-modal="true"]') !== null) return true;
  return target instanceof Element && target.closest(`[${mark}="true"], [aria-expanded="true"]`) !== null;
}

function useLatest(value: () => void) {
  const latest = useRef(value);
  useEffect(() => {
    latest.current = value;
  }, [value]);
  return latest;
}

/** For a dialog that is rendered only while it is open: returns the focus to the element that opened it. */
export function useFocusReturn(): void {
  const [opener] = useState(() => document.activeElement);
  useLayoutEffect(() => {
    // If one dialog follows another, the first has returned the focus by now, and its element may be gone.
    const isThere = opener?.isConnected === true && opener !== document.body;
    const target = isThere ? opener : document.activeElement;
    return () => {
      if (target instanceof HTMLElement && target.isConnected) target.focus();
    };
  }, [opener]);
}
