/** Every migration by its name, which sorts in the order in which they run. One that was released is never edited. */

import type { Migration } from 'kysely/migration';
import { keys } from './0001-keys.ts';
import { nodeReports } from './0002-node-reports.ts';

export const migrations: Readonly<Record<string, Migration>> = {
  '0001-keys': keys,
  '0002-node-reports': nodeReports,
};
