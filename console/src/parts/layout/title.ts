/** What the tab is called. */

import { useEffect } from 'react';

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Postern`;
  }, [title]);
}
