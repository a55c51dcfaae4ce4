/** What it takes to find out whether models are what they were. */

import type { AskForOurselves } from '../../core/drift.ts';
import type { Log } from '../../core/log.ts';
import type { SettingStore } from '../../core/store/settings.ts';
import type { Clock } from '../../lib/clock.ts';

export interface DriftDeps {
  readonly ask: AskForOurselves;
  readonly settings: Pick<SettingStore, 'get' | 'set'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}
