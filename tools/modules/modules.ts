/** The list of modules: layer, responsibility, and the file to read first. */

export interface Module {
  readonly name: string;
  readonly path: string;
  /** A few words for the picture. */
  readonly brief: string;
  /** A sentence for the table, which names folders that need an explanation. */
  readonly owns: string;
  /** The file to read first, by its path in the module. */
  readonly firstFile: string;
}

export interface Layer {
  readonly title: string;
  readonly modules: readonly Module[];
}

/** The layers from top to bottom: a module may import modules of the layers below its own, and none of its own layer. */
export const layers: readonly Layer[] = [
  {
    title: 'entry point',
    modules: [
      {
        name: 'main',
        path: 'src/main.ts',
        brief: 'starts and ends the process',
        owns: 'Entry point: environment, command, exit code.',
        firstFile: 'src/main.ts',
      },
    ],
  },
  {
    title: 'commands',
    modules: [
      {
        name: 'cli',
        path: 'src/cli',
        brief: 'one file a command',
        owns: 'Commands and their options.',
        firstFile: 'index.ts',
      },
    ],
  },
  {
    title: 'composition',
    modules: [
      {
        name: 'serve',
        path: 'src/serve',
        brief: 'connects the features',
        owns: 'Composition of the process: `app.ts` the request path, `accounting.ts` journal, limits and budgets, `admin.ts` the admin listener; `ready`, `reload`, `stop`. `threads/` has the importer, `workers/` several processes on one port.',
        firstFile: 'app.ts',
      },
      {
        name: 'console',
        path: 'console/src',
        brief: 'web pages for operators',
        owns: 'The web console: `pages/`, and `parts/` shared by pages. Of the server it imports only `admin/contract.ts`.',
        firstFile: 'app.tsx',
      },
    ],
  },
  {
    title: 'direct path',
    modules: [
      {
        name: 'direct',
        path: 'src/direct',
        brief: 'a plain request, in callbacks',
        owns: 'A plain request from its head to its settlement: callbacks, and no promise where nothing waits. `exits.ts` hands everything else to the general path.',
        firstFile: 'path.ts',
      },
    ],
  },
  {
    title: 'features, which do not import each other',
    modules: [
      {
        name: 'http',
        path: 'src/http',
        brief: 'listener, framing, errors',
        owns: 'Listener, framing, router, body reading, error responses.',
        firstFile: 'edge.ts',
      },
      {
        name: 'keys',
        path: 'src/keys',
        brief: 'API keys, model lists',
        owns: 'API keys: what they may call, their first use, the model lists they see.',
        firstFile: 'access.ts',
      },
      {
        name: 'memory',
        path: 'src/memory',
        brief: 'memory of bodies',
        owns: 'Memory for request bodies in flight, and refusal of work under memory pressure.',
        firstFile: 'body-budget.ts',
      },
      {
        name: 'pipeline',
        path: 'src/pipeline',
        brief: 'any request, step by step',
        owns: 'The general path: `calls/` calls upstreams and translates, `lists/` sends parts of lists, `objects/` tracks stored objects.',
        firstFile: 'pipeline.ts',
      },
      {
        name: 'batch',
        path: 'src/batch',
        brief: 'split, merge, cache lists',
        owns: 'Lists: split, merge, cache, coalesce; `codecs/` finds items and results in the bytes of each operation.',
        firstFile: 'lists.ts',
      },
      {
        name: 'upstream',
        path: 'src/upstream',
        brief: 'load balancing and calls',
        owns: 'Choice of target, and the call: `connections/` pools, `slots/` concurrency, queues and lanes, `health/` target health and cooldown, `probes/` health checks.',
        firstFile: 'dispatcher.ts',
      },
      {
        name: 'accounting',
        path: 'src/accounting',
        brief: 'spending, bills, rows',
        owns: 'What a request reserves and what it cost: limits and budgets all or none, bills, rows, captured bodies. It alone imports the modules of the layer below.',
        firstFile: 'spending.ts',
      },
      {
        name: 'telemetry',
        path: 'src/telemetry',
        brief: 'log and metrics',
        owns: 'The log, `metrics/`, `otel/`, and the health report of a node.',
        firstFile: 'log.ts',
      },
      {
        name: 'config',
        path: 'src/config',
        brief: 'from text to snapshot',
        owns: 'The configuration: `read/` parses text with line numbers, `elements/` has schema, checks and compiler of each element, `store/` adds resources, `live/` reloads.',
        firstFile: 'load.ts',
      },
      {
        name: 'store',
        path: 'src/store',
        brief: 'SQLite and PostgreSQL',
        owns: 'Kysely over SQLite (in a thread) and PostgreSQL: keys, `people/`, `ledger/`, budget accounts, migrations.',
        firstFile: 'open-store.ts',
      },
      {
        name: 'admin',
        path: 'src/admin',
        brief: 'API for operators',
        owns: 'The admin API, a folder a feature: `contract/` describes endpoints, `endpoints/` implements them. `api/` serves them; `listener/` serves the console and checks access. The console may import only `contract.ts`.',
        firstFile: 'contract.ts',
      },
    ],
  },
  {
    title: 'answers',
    modules: [
      {
        name: 'answers',
        path: 'src/answers',
        brief: 'judge, relay and settle answers',
        owns: 'Answers: judges, searches for credentials, relays and settles them; the header lines that clients get.',
        firstFile: 'relay.ts',
      },
    ],
  },
  {
    title: 'plans',
    modules: [
      {
        name: 'plan',
        path: 'src/plan',
        brief: 'what is asked, of whom, and how it is written',
        owns: 'Plans: reads the request, finds its model, compiles the targets of model and route, writes the call; `usage/` counts requests and answers.',
        firstFile: 'route-plan.ts',
      },
    ],
  },
  {
    title: 'counting modules, which do not import each other',
    modules: [
      {
        name: 'limits',
        path: 'src/limits',
        brief: 'rate limits, Redis',
        owns: 'Rate limits and concurrency of keys, projects, models and upstreams: in memory, through the parent of workers, in Redis.',
        firstFile: 'counters.ts',
      },
      {
        name: 'budgets',
        path: 'src/budgets',
        brief: 'budgets and alerts',
        owns: 'Budgets: local allowances from accounts in the store, and their alerts.',
        firstFile: 'local-budgets.ts',
      },
      {
        name: 'journal',
        path: 'src/journal',
        brief: 'durable log of requests',
        owns: 'The journal: records, segments, reader; the importer moves it into the store.',
        firstFile: 'journal.ts',
      },
    ],
  },
  {
    title: 'client routes',
    modules: [
      {
        name: 'routes',
        path: 'src/routes',
        brief: 'paths that clients call',
        owns: 'One file a client API, one row a route, data only.',
        firstFile: 'openai.ts',
      },
    ],
  },
  {
    title: 'client APIs',
    modules: [
      {
        name: 'apis',
        path: 'src/apis',
        brief: "other vendors' formats",
        owns: "One file a client API: another service's wire format, read into an operation and written back.",
        firstFile: 'index.ts',
      },
    ],
  },
  {
    title: 'data, one file a row',
    modules: [
      {
        name: 'families',
        path: 'src/families',
        brief: 'kinds of upstreams',
        owns: 'One file a family: facts and small functions; `wire-formats/` shared wire formats, `bridges/` emulation over chat, `local/` local models, `signing/` cloud credentials.',
        firstFile: 'cohere.ts',
      },
      {
        name: 'prices',
        path: 'src/prices',
        brief: 'prices of models',
        owns: 'Built-in prices, as data.',
        firstFile: 'table.ts',
      },
    ],
  },
  {
    title: 'shared types',
    modules: [
      {
        name: 'core',
        path: 'src/core',
        brief: 'shared types and ports; the error table',
        owns: 'Types and ports shared by modules: `operations/`, `accounting/`, `store/`; the error table.',
        firstFile: 'snapshot.ts',
      },
    ],
  },
  {
    title: 'general tools',
    modules: [
      {
        name: 'lib',
        path: 'src/lib',
        brief: 'JSON, IDs, clock, quantities',
        owns: 'General tools: `json/` scanner and reader, `secrets/`, `addresses/`, IDs, clock, quantities.',
        firstFile: 'json/json-scan.ts',
      },
      {
        name: 'wire',
        path: 'src/wire',
        brief: 'HTTP/1.1 on sockets',
        owns: 'HTTP/1.1 on sockets, both sides: headers, bodies, connections, pools, timeouts.',
        firstFile: 'server.ts',
      },
    ],
  },
];

export const modules: readonly Module[] = layers.flatMap((layer) => layer.modules);

export const firstFileOf = ({ path, firstFile }: Module): string =>
  firstFile === path ? path : `${path}/${firstFile}`;

/** The version is beside `main.ts`, and may be imported by any module. */
export const withoutModule: readonly string[] = ['src/version.ts'];
