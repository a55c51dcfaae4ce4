/** Lists all commands; each is loaded only when it is called. */

import type { Command } from './command.ts';
import { type CommandName, words } from './words.ts';

const loaders: Readonly<Record<CommandName, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.ts')).serve,
  check: async () => (await import('./check/check.ts')).check,
  init: async () => (await import('./init/init.ts')).init,
  import: async () => (await import('./import/import.ts')).importCommand,
  keys: async () => (await import('./keys/keys.ts')).keys,
  members: async () => (await import('./members/members.ts')).members,
  resources: async () => (await import('./resources/resources.ts')).resources,
  secrets: async () => (await import('./resources/secrets.ts')).secrets,
  prices: async () => (await import('./prices/prices.ts')).prices,
  models: async () => (await import('./models.ts')).models,
  top: async () => (await import('./top.ts')).top,
  cache: async () => (await import('./cache.ts')).cache,
  drift: async () => (await import('./drift.ts')).drift,
  migrate: async () => (await import('./migrate.ts')).migrate,
  backup: async () => (await import('./backup.ts')).backup,
  usage: async () => (await import('./ledger/usage.ts')).usage,
  ledger: async () => (await import('./ledger/ledger.ts')).ledger,
  journal: async () => (await import('./journal.ts')).journal,
  openapi: async () => (await import('./openapi.ts')).openapi,
};

/** The names of all commands, in the order of the help. */
export const commandNames = Object.keys(words) as CommandName[];

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(words, name);
}

export const loadCommand = (name: CommandName): Promise<Command> => loaders[name]();
