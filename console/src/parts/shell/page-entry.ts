/** What the shell knows of a page. */

import type { ComponentType } from 'react';
import type { IconName } from '../marks/icon.tsx';

export interface PageEntry {
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  readonly component: ComponentType;
  /** For the command palette. */
  readonly keywords: readonly string[];
}
