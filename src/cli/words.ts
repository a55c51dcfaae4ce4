/** Lists the names and descriptions of all commands, so that the help needs to load none of them. */

export interface CommandWords {
  readonly name: string;
  /** What the command does, in one line for the list of commands. */
  readonly summary: string;
  /** The command with its arguments, such as `check [--config F] [--brief] [--json]`. */
  readonly usage: string;
}

/** The texts of each command, in the order of the help. */
const texts = {
  serve: {
    summary: 'Runs the gateway; the default.',
    usage: 'serve [--config F] [--set KEY=VALUE]...',
  },
  check: {
    summary: 'Validates the configuration and prints the resolved one.',
    usage: 'check [--config F] [--json]',
  },
  init: {
    summary: 'Writes a configuration to start from, for the provider keys found in the environment.',
    usage: 'init [--config F] [--force]',
  },
  import: {
    summary: "Converts another gateway's configuration, and lists settings without a counterpart.",
    usage: 'import litellm|portkey|new-api|one-api|bifrost FILE|DATABASE [--out F] [--force] [--diff]',
  },
  keys: {
    summary: 'Creates, lists, changes, rotates and revokes client keys.',
    usage: 'keys create|list|show|update|rotate|revoke [--config F] [--json]',
  },
  members: {
    summary: 'Lists console members, changes their roles, and creates sign-in links and API tokens.',
    usage: 'members list|setup-link|invite|reset|role|disable|enable|remove|token [--config F] [--json]',
  },
  resources: {
    summary: 'Lists, applies and deletes resources of the store: upstreams, models, projects and keys.',
    usage: 'resources list|show|apply|delete [--config F] [--json]',
  },
  secrets: {
    summary: 'Shows which encryption key each secret in the store uses, and re-encrypts them.',
    usage: 'secrets status|rotate [--config F] [--json]',
  },
  prices: {
    summary: "Imports a price list, such as LiteLLM's, in place of the built-in prices.",
    usage: 'prices import FILE [--as-of 2026-11-25] [--dry-run] [--config F] [--json]',
  },
  models: {
    summary: 'Lists the models with their targets, visibility and health.',
    usage: 'models [--config F] [--json]',
  },
  top: {
    summary: 'Shows the upstreams of a running gateway each second: lanes, waiting calls, latency.',
    usage: 'top [--once] [--json] [--url http://127.0.0.1:4001] [--config F]',
  },
  cache: {
    summary: 'Empties the cache of a model on every node (models[].cache).',
    usage: 'cache clear --model M [--config F]',
  },
  drift: {
    summary: 'Shows whether models have changed (canary) and agree with another model (shadow).',
    usage: 'drift [show|accept] [--config F] [--json]',
  },
  migrate: {
    summary: 'Migrates the tables of the store to this version.',
    usage: 'migrate [--config F] [--check | --back-to VERSION]',
  },
  backup: {
    summary: 'Copies the store into a file.',
    usage: 'backup FILE [--config F]',
  },
  usage: {
    summary: 'Shows usage and cost by key, project, model, upstream, route, operation, outcome, hour or day.',
    usage: 'usage [--by key,day] [--from 30d] [--to 2026-11-30] [--key ID] [--csv|--json]',
  },
  ledger: {
    summary:
      'Lists or follows rows of the ledger, shows one, compares rows with sums, deletes old rows, and imports journals of other stores.',
    usage: 'ledger tail|show|verify|prune|adopt [--config F] [--json]',
  },
  journal: {
    summary: 'Prints the records of the journal (rows not yet in the store) as lines of JSON.',
    usage: 'journal show [FOLDER] [--config F]',
  },
  openapi: {
    summary: 'Prints the OpenAPI 3.1 document of the gateway, or that of the admin API.',
    usage: 'openapi [--admin] [--config F]',
  },
} as const satisfies Readonly<Record<string, Omit<CommandWords, 'name'>>>;

export type CommandName = keyof typeof texts;

export const words = Object.fromEntries(
  Object.entries(texts).map(([name, said]) => [name, { name, ...said }]),
) as Readonly<Record<CommandName, CommandWords>>;
