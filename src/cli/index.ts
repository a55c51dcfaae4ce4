/** Every command, in the order in which help lists them. */

import { backup } from './backup.ts';
import { cache } from './cache.ts';
import { check } from './check/check.ts';
import type { Command } from './command.ts';
import { drift } from './drift.ts';
import { importCommand } from './import/import.ts';
import { init } from './init/init.ts';
import { keys } from './keys/keys.ts';
import { ledger } from './ledger/ledger.ts';
import { usage } from './ledger/usage.ts';
import { members } from './members/members.ts';
import { migrate } from './migrate.ts';
import { models } from './models.ts';
import { openapi } from './openapi.ts';
import { resources } from './resources/resources.ts';
import { secrets } from './resources/secrets.ts';
import { serve } from './serve.ts';

export const commands: readonly Command[] = [
  serve,
  check,
  init,
  importCommand,
  keys,
  members,
  resources,
  secrets,
  models,
  cache,
  drift,
  migrate,
  backup,
  usage,
  ledger,
  openapi,
];
