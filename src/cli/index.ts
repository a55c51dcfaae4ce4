/** Every command, in the order in which help lists them. */

import { backup } from './backup.ts';
import { check } from './check.ts';
import type { Command } from './command.ts';
import { init } from './init.ts';
import { keys } from './keys.ts';
import { ledger } from './ledger.ts';
import { members } from './members.ts';
import { migrate } from './migrate.ts';
import { models } from './models.ts';
import { openapi } from './openapi.ts';
import { resources } from './resources.ts';
import { secrets } from './secrets.ts';
import { serve } from './serve.ts';
import { usage } from './usage.ts';

export const commands: readonly Command[] = [
  serve,
  check,
  init,
  keys,
  members,
  resources,
  secrets,
  models,
  migrate,
  backup,
  usage,
  ledger,
  openapi,
];
