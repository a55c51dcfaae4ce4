/** A word of warning that stays where it is: something is as it is, and should be known. */

import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon } from '../../parts/marks/icon.tsx';

interface CautionProps {
  readonly title: string;
  readonly children: ReactNode;
}

export function Caution({ title, children }: CautionProps) {
  return (
    <Alert
      variant="default"
      className="play-caution"
      title={title}
      icon={
        <span className="tone-wait">
          <Icon name="warning" />
        </span>
      }
    >
      {children}
    </Alert>
  );
}
