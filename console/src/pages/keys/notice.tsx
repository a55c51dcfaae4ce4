/** Something to be noticed before one goes on: readable in light and in dark. */

import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon, type IconName } from '../../parts/marks/icon.tsx';

interface NoticeProps {
  readonly title: string;
  readonly icon?: IconName;
  readonly children: ReactNode;
}

export function Notice({ title, icon = 'warning', children }: NoticeProps) {
  return (
    <Alert
      variant="default"
      icon={
        <span className="tone-wait">
          <Icon name={icon} />
        </span>
      }
      title={title}
    >
      {children}
    </Alert>
  );
}
