/** Goes from page to page, and asks first where a form would be left that was edited. */

import { type ReactNode, useCallback, useEffect } from 'react';
import { Router } from 'wouter';
import { useBrowserLocation } from 'wouter/use-browser-location';
import { useConfirm } from '../dialogs/confirm.tsx';
import { isAnythingUnsaved, mayLeave, whenLeaving } from '../forms/unsaved.ts';

export function GuardedRouter({ children }: { readonly children: ReactNode }) {
  const confirm = useConfirm();
  useEffect(() => {
    whenLeaving(() =>
      confirm({
        title: 'Leave without saving?',
        body: 'What you changed is not saved. It is here again when you come back to it in this tab.',
        confirm: 'Leave',
        danger: true,
      }),
    );
    return () => whenLeaving(async () => true);
  }, [confirm]);
  return <Router hook={useGuardedLocation}>{children}</Router>;
}

function useGuardedLocation(): ReturnType<typeof useBrowserLocation> {
  const [location, navigate] = useBrowserLocation();
  const guarded = useCallback<typeof navigate>(
    (...where) => {
      if (!isAnythingUnsaved()) {
        navigate(...where);
        return;
      }
      void mayLeave().then((may) => {
        if (may) navigate(...where);
      });
    },
    [navigate],
  );
  return [location, guarded];
}
