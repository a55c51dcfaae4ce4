/** Names and descriptions of all commands, so that help needs to load none of them. */

export interface CommandWords {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The arguments after the program's name, such as `check [--config F] [--brief] [--json]`. */
  readonly usage: string;
}

/** In the order of the help. */
const texts = {
  serve: {
    summary: 'Runs the gateway; the default.',
    usage: 'serve [--config F] [--set KEY=VALUE]...',
  },
  check: {
    summary: 'Validates the configuration and prints what it comes to.',
    usage: 'check [--config F] [--json]',
  },
  init: {
    summary: 'Writes a configuration to start from, for the provider keys found in the environment.',
    usage: 'init [--config F] [--force]',
  },
  import: {
    summary: "Writes a configuration from another gateway's, and says what has no counterpart.",
    usage: 'import litellm|portkey|new-api|one-api|bifrost FILE|DATABASE [--out F] [--force] [--diff]',
  },
  keys: {
    summary: 'Makes, shows, changes, rotates and revokes virtual keys.',
    usage: 'keys create|list|show|update|rotate|revoke [--config F] [--json]',
  },
  members: {
    summary: 'Shows who uses the console, says who may, and makes links that let somebody in.',
    usage: 'members list|setup-link|invite|reset|role|disable|enable|remove|token [--config F] [--json]',
  },
  resources: {
    summary: 'Shows, puts in and takes out what is configured in the store: upstreams, models, projects and keys.',
    usage: 'resources list|show|apply|delete [--config F] [--json]',
  },
  secrets: {
    summary: 'Shows under which key the secrets in the store are sealed, and seals them anew.',
    usage: 'secrets status|rotate [--config F] [--json]',
  },
  prices: {
    summary: "Imports a price list, such as LiteLLM's, in place of the built-in prices.",
    usage: 'prices import FILE [--as-of 2026-11-25] [--dry-run] [--config F] [--json]',
  },
  models: {
    summary: 'Lists what is served, by whom, visible or not, healthy or not.',
    usage: 'models [--config F] [--json]',
  },
  top: {
    summary: 'Shows the upstreams of a running gateway each second: lanes, who waits, latency.',
    usage: 'top [--once] [--json] [--url http://127.0.0.1:4001] [--config F]',
  },
  cache: {
    summary: 'Has every node forget what it remembers of the items of a model (models[].cache).',
    usage: 'cache clear --model M [--config F]',
  },
  drift: {
    summary: 'Shows whether models are what they were (canary), and agree with another one (shadow).',
    usage: 'drift [show|accept] [--config F] [--json]',
  },
  migrate: {
    summary: "Brings the store's tables up to date.",
    usage: 'migrate [--config F] [--check | --back-to VERSION]',
  },
  backup: {
    summary: 'Copies the store into a file.',
    usage: 'backup FILE [--config F]',
  },
  usage: {
    summary:
      'Shows who used what, and what it cost: by key, project, model, upstream, route, operation, outcome, hour or day.',
    usage: 'usage [--by key,day] [--from 30d] [--to 2026-11-30] [--key ID] [--csv|--json]',
  },
  ledger: {
    summary:
      'Follows the rows of the ledger, shows one, compares rows with sums, deletes old rows, and imports journals of other stores.',
    usage: 'ledger tail|show|verify|prune|adopt [--config F] [--json]',
  },
  journal: {
    summary: 'Prints the records of the journal, which rows pass on their way into the store, as lines of JSON.',
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
