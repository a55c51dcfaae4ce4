/** For what is shown only once: it does not go away before it was copied, unless one says so. */

import { useState } from 'react';
import { useConfirm } from '../dialogs/confirm.tsx';

interface CopiedOptions {
  /** "Did you copy the secret?" */
  readonly title: string;
  readonly body: string;
  onClose(): void;
}

export function useCopied({ title, body, onClose }: CopiedOptions) {
  const confirm = useConfirm();
  const [copied, setCopied] = useState(false);
  return {
    copied,
    onCopied: () => setCopied(true),
    async close(): Promise<void> {
      if (copied || (await confirm({ title, body, confirm: 'Close it', danger: true }))) onClose();
    },
  };
}
