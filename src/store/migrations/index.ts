/** Every migration by its name, which sorts in the order in which they run. One that was released is never edited. */

import type { Migration } from 'kysely/migration';
import { keys } from './0001-keys.ts';

export const migrations: Readonly<Record<string, Migration>> = {
  '0001-keys': keys,
};
