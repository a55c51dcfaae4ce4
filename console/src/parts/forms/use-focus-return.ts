/** For a dialog that is drawn only while it is open: gives the focus back to what opened it. */

import { useLayoutEffect, useState } from 'react';

export function useFocusReturn(): void {
  const [opener] = useState(() => document.activeElement);
  useLayoutEffect(() => {
    // One dialog follows another: the one before has given the focus back by now, and what had it went with that one.
    const isThere = opener?.isConnected === true && opener !== document.body;
    const target = isThere ? opener : document.activeElement;
    return () => {
      if (target instanceof HTMLElement && target.isConnected) target.focus();
    };
  }, [opener]);
}
