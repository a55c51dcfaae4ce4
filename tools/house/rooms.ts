/** The rooms of the house: in which layer each is, what it owns, and the file to read first. */

export interface Room {
  readonly name: string;
  readonly path: string;
  /** What the map says in its box: a few words. */
  readonly brief: string;
  /** What the table says of it: a sentence, which names the folders in it that need a word. */
  readonly owns: string;
  /** The file to read first, in the room. */
  readonly door: string;
}

export interface Layer {
  readonly title: string;
  readonly rooms: readonly Room[];
}

/** From top to bottom: a room may import those of the layers below its own, and none beside it. */
export const layers: readonly Layer[] = [
  {
    title: 'begins',
    rooms: [
      {
        name: 'main',
        path: 'src/main.ts',
        brief: 'the process begins and ends',
        owns: 'Where the process begins: environment, command, exit code.',
        door: 'src/main.ts',
      },
    ],
  },
  {
    title: 'is told what to do',
    rooms: [
      {
        name: 'cli',
        path: 'src/cli',
        brief: 'one file a command',
        owns: 'Commands, and how their options are read; one that needs several files has a folder.',
        door: 'index.ts',
      },
    ],
  },
  {
    title: 'puts together',
    rooms: [
      {
        name: 'serve',
        path: 'src/serve',
        brief: 'hands the features to one another',
        owns: 'The process, put together: `app.ts` the rooms that a request passes, `accounting.ts` journal, import, limits, budgets and alerts, `admin.ts` what operators are served; `ready`, `reload` and `stop` are what a start says, what changes while it runs, and how it ends. `threads/` holds the one that imports the journal, `workers/` several processes at one port.',
        door: 'app.ts',
      },
      {
        name: 'console',
        path: 'console/src',
        brief: 'web pages for operators',
        owns: 'The web console, a workspace of its own: `pages/` has a folder for each page, `parts/` what several need, by what it is for. Of the server it knows `admin/contract.ts` alone.',
        door: 'app.tsx',
      },
    ],
  },
  {
    title: 'features, which know nothing of one another',
    rooms: [
      {
        name: 'http',
        path: 'src/http',
        brief: 'listener, framing, errors',
        owns: 'The edge: listener, framing, router, body, and every error as an answer.',
        door: 'edge.ts',
      },
      {
        name: 'admission',
        path: 'src/admission',
        brief: 'keys, limits, budgets',
        owns: 'Keys and what they allow: `limits/` counts rates here and in Redis, `budgets/` money, `body-memory/` when the process takes no more.',
        door: 'spending.ts',
      },
      {
        name: 'pipeline',
        path: 'src/pipeline',
        brief: 'a request in reading order',
        owns: 'A request in reading order; `calls/` asks upstreams, `answers/` makes what they say fit to pass, `usage/` counts it, `lists/` asks for parts of it, `objects/` knows whose it is what upstreams keep.',
        door: 'pipeline.ts',
      },
      {
        name: 'batch',
        path: 'src/batch',
        brief: 'lists taken apart',
        owns: 'Lists: taken apart for upstreams that take fewer items, and one answer put together; `codecs/` says where items and results stand in the bytes of each operation.',
        door: 'lists.ts',
      },
      {
        name: 'upstream',
        path: 'src/upstream',
        brief: 'whom to call, and calls',
        owns: 'Whom to call next, and the call: `connections/` are opened and pooled, `places/` are shared, `standing/` remembers who works and who rests, `probes/` ask who is there.',
        door: 'dispatcher.ts',
      },
      {
        name: 'ledger',
        path: 'src/ledger',
        brief: 'bills, rows, the journal',
        owns: 'Bills, rows, the journal, its reader, the import.',
        door: 'ledger.ts',
      },
      {
        name: 'telemetry',
        path: 'src/telemetry',
        brief: 'the log and the metrics',
        owns: 'The log, the `metrics/`, and what a node says of its targets.',
        door: 'log.ts',
      },
      {
        name: 'config',
        path: 'src/config',
        brief: 'from a text to a snapshot',
        owns: 'The configuration: `read/` makes a text into values with lines, `elements/` has a folder each for schema, judge and compiler, `store/` is what the store adds to the file, `live/` follows both and says what needs a restart, `describe/` is the schema in other words.',
        door: 'load.ts',
      },
      {
        name: 'store',
        path: 'src/store',
        brief: 'SQLite and PostgreSQL',
        owns: 'Kysely over SQLite (in a thread, when serving) and PostgreSQL: keys, `people/`, `ledger/`, the bank of budgets, migrations.',
        door: 'open-store.ts',
      },
      {
        name: 'admin',
        path: 'src/admin',
        brief: 'what operators can ask',
        owns: 'What the console and scripts ask for, a folder a feature: `contract/` says what can be asked, by whom, in which shapes, `endpoints/` what is done then. `api/` serves them; `listener/` hands out the console and says who gets in. `contract.ts` is all that the console may import: types, and plain data.',
        door: 'contract.ts',
      },
    ],
  },
  {
    title: 'what can be asked for',
    rooms: [
      {
        name: 'routes',
        path: 'src/routes',
        brief: 'paths that clients call',
        owns: 'One file a client route, data only.',
        door: 'rerank.ts',
      },
    ],
  },
  {
    title: 'other services',
    rooms: [
      {
        name: 'doors',
        path: 'src/doors',
        brief: "other services' wires",
        owns: "One file a front door: another service's wire, read into an operation and written back.",
        door: 'index.ts',
      },
    ],
  },
  {
    title: 'data, one file a row',
    rooms: [
      {
        name: 'families',
        path: 'src/families',
        brief: 'kinds of upstreams',
        owns: 'One file an upstream family, facts and small functions; `dialects/` holds wire formats that several share, `bridges/` what is served by way of chat, `local/` what is made in the process, `signing/` who we are to clouds.',
        door: 'cohere.ts',
      },
      {
        name: 'prices',
        path: 'src/prices',
        brief: 'what models cost',
        owns: 'What well-known models cost, as data.',
        door: 'table.ts',
      },
    ],
  },
  {
    title: 'vocabulary',
    rooms: [
      {
        name: 'core',
        path: 'src/core',
        brief: 'words and ports that all share; the table of errors',
        owns: 'The shared vocabulary and the ports between rooms: `operations/` has a row for each, `accounting/` says what is counted and charged, `store/` holds the ports of the store; the table of errors.',
        door: 'snapshot.ts',
      },
    ],
  },
  {
    title: 'tools that know no gateway',
    rooms: [
      {
        name: 'lib',
        path: 'src/lib',
        brief: 'JSON, IDs, clock, quantities',
        owns: 'Leaf tools that could live in any project: `json/` scans and reads, `secrets/`, `addresses/`, IDs, clock, quantities.',
        door: 'json/json-scan.ts',
      },
      {
        name: 'wire',
        path: 'src/wire',
        brief: 'HTTP/1.1 on sockets',
        owns: 'HTTP/1.1 on sockets: heads, bodies, connections, pools; one clock for all that may take too long.',
        door: 'server.ts',
      },
    ],
  },
];

export const rooms: readonly Room[] = layers.flatMap((layer) => layer.rooms);

export const doorOf = ({ path, door }: Room): string => (door === path ? path : `${path}/${door}`);

/** The version stands beside `main.ts`, and whoever says it may import it. */
export const roomless: readonly string[] = ['src/version.ts'];
