/** Has the browser keep what was made. */

import { Button } from '@mantine/core';
import { Icon } from '../../parts/marks/icon.tsx';

interface SaveLinkProps {
  /** Of an object of this page. */
  readonly url: string;
  /** What the file is to be called. */
  readonly name: string;
}

export function SaveLink({ url, name }: SaveLinkProps) {
  return (
    <Button
      component="a"
      href={url}
      download={name}
      size="compact-xs"
      variant="default"
      leftSection={<Icon name="download" size={12} />}
    >
      Save
    </Button>
  );
}
