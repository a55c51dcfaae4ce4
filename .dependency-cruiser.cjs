/** Imports point one way: main -> cli -> serve -> features -> core -> lib. Each rule says why it is there. */

const features = [
  'accounting',
  'admin',
  'answers',
  'batch',
  'budgets',
  'config',
  'direct',
  'families',
  'http',
  'journal',
  'keys',
  'limits',
  'memory',
  'pipeline',
  'plan',
  'store',
  'telemetry',
  'upstream',
];
const tests = '\\.test\\.ts$';

/** What the contract of the console may hand on as it is. */
const plainData =
  '^src/(core/(caps|accounting/ledger-row|operations/[^/]+|resource-editor|role|store/series)|admin/[^/]+/facts)\\.ts$';

/** In src/admin: shapes, paths and roles, and nothing that acts on them. */
const saidOfEndpoints = '([^/]+/(contract/|facts\\.ts$)|shapes/|endpoint\\.ts$)';

/**
 * Accounting takes from limits and budgets together, all or none, and writes what it took into the journal: it says its needs in
 * their terms. None of the three knows it or each other. The two paths of a request share plans and answers.
 */
const below = {
  accounting: '|limits|budgets|journal',
  answers: '|plan',
  pipeline: '|plan|answers',
  direct: '|plan|answers|pipeline',
};

const featureRules = features.map((feature) => ({
  name: `${feature}-stands-alone`,
  comment:
    'Features do not import each other: whoever composes them (serve, cli) hands one to the other as an argument.',
  severity: 'error',
  from: { path: `^src/${feature}/`, pathNot: tests },
  // What things cost is data, as families are; the wire is a tool, as those of lib are.
  to: { path: '^src/', pathNot: `^src/(${feature}|core|lib|prices|wire${below[feature] ?? ''})/` },
}));

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Two files that need each other are one file, or a third that both need.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'lib-knows-nothing',
      comment: 'lib/ holds leaf tools that could live in any project; what knows our words belongs elsewhere.',
      severity: 'error',
      from: { path: '^src/lib/', pathNot: tests },
      to: { path: '^src/', pathNot: '^src/lib/' },
    },
    {
      name: 'the-wire-stands-alone',
      comment:
        'wire/ speaks HTTP/1.1 and knows no gateway: it could be a package of its own, with Node and nothing else below it.',
      severity: 'error',
      from: { path: '^src/wire/', pathNot: tests },
      to: { pathNot: '^src/wire/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'core-needs-only-lib',
      comment: 'core/ is the vocabulary that everyone shares: it may not depend on anyone who speaks it.',
      severity: 'error',
      from: { path: '^src/core/', pathNot: tests },
      to: { path: '^src/', pathNot: '^src/(core|lib)/' },
    },
    {
      name: 'routes-are-data',
      comment:
        'A route is a row: it names its fields and nothing that acts on them. The mappings of client APIs are among the list.',
      severity: 'error',
      from: { path: '^src/routes/', pathNot: tests },
      to: { path: '^src/', pathNot: '^src/(routes|core|apis)/' },
    },
    {
      name: 'client-apis-are-data',
      comment:
        "A client API is rows and small functions between a client's wire format and the operations' own forms, written with the tools of wire formats: it knows no family and nothing that acts.",
      severity: 'error',
      from: { path: '^src/apis/', pathNot: tests },
      to: { path: '^src/', pathNot: '^src/(apis|core|lib|families/wire-formats)/' },
    },
    {
      name: 'prices-are-data',
      comment: 'A table, and how to look something up in it: whoever wants a price may ask.',
      severity: 'error',
      from: { path: '^src/prices/', pathNot: tests },
      to: { path: '^src/', pathNot: '^src/(prices|core|lib)/' },
    },
    ...featureRules,
    {
      name: 'the-direct-path-leaves-by-its-exits',
      comment: 'A plain request does no work for what it does not use; whoever needs more is handed over in exits.ts.',
      severity: 'error',
      from: { path: '^src/direct/', pathNot: `^src/direct/exits\\.ts$|${tests}` },
      to: { path: '^src/pipeline/' },
    },
    {
      name: 'reading-knows-no-elements',
      comment:
        'config/read/ makes values with places of a text, whatever they mean; what they mean stands in elements/.',
      severity: 'error',
      from: { path: '^src/config/read/', pathNot: tests },
      to: { path: '^src/config/', pathNot: '^src/config/read/' },
    },
    {
      name: 'serve-knows-no-commands',
      comment:
        'serve/ puts the process together from the features; whoever reads a command line calls it, and not the other way round.',
      severity: 'error',
      from: { path: '^src/serve/', pathNot: tests },
      to: { path: '^src/(cli/|main\\.ts$)' },
    },
    {
      name: 'only-composers-import-indexes',
      comment:
        'The lists of routes, client APIs and families reach the rest as arguments, so that a test can bring its own.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: `^src/main\\.ts$|^src/serve/(app|gateway)\\.ts$|^src/cli/openapi\\.ts$|^src/(routes|families|apis)/|${tests}`,
      },
      to: { path: '^src/(routes|families|apis)/index\\.ts$' },
    },
    {
      name: 'databases-stay-in-store',
      comment: 'Nobody outside store/ names a database or its query builder.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/store/' },
      to: { path: '^(kysely|node_modules/kysely)|^(node:)?sqlite$' },
    },
    {
      name: 'the-console-knows-the-contract-alone',
      comment:
        'The console runs in browsers: of the server it may know what goes over the wire, and nothing that runs.',
      severity: 'error',
      from: { path: '^console/' },
      to: { path: '^(src|test|bench|tools)/', pathNot: '^src/admin/contract\\.ts$' },
    },
    {
      name: 'the-contract-is-types-and-data',
      comment:
        'What the console imports of the server vanishes when it is built, save plain data: lists of words, and nothing that runs.',
      severity: 'error',
      from: { path: '^src/admin/contract\\.ts$' },
      to: { pathNot: plainData, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'plain-data-needs-nothing',
      comment: 'These files go into the browser as they are: they bring nothing along.',
      severity: 'error',
      from: { path: plainData },
      to: { pathNot: plainData, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'what-can-be-asked-is-data',
      comment:
        'The console checks its calls by the types of what can be asked: what is done then, in Node.js, stands in endpoints/.',
      severity: 'error',
      from: { path: `^src/admin/${saidOfEndpoints}`, pathNot: tests },
      to: {
        path: '^src/|^node:',
        pathNot: `^src/(core|lib)/|^src/admin/${saidOfEndpoints}`,
      },
    },
    {
      name: 'parts-know-no-page',
      comment:
        'What pages share does not lean on one of them; the shell is told of the pages by whoever puts it around them.',
      severity: 'error',
      from: { path: '^console/src/parts/' },
      to: { path: '^console/src/(pages/|[^/]+$)' },
    },
    {
      name: 'pages-stand-alone',
      comment: 'A page is loaded when it is looked at: what two of them need is a part.',
      severity: 'error',
      from: { path: '^console/src/pages/([^/]+)/' },
      to: { path: '^console/src/(pages/|[^/]+$)', pathNot: '^console/src/pages/$1/' },
    },
    {
      name: 'the-server-needs-no-console',
      comment: 'The console is built apart, with another toolchain; the server hands out what was built.',
      severity: 'error',
      from: { path: '^(src|bench)/' },
      to: { path: '^console/' },
    },
    {
      name: 'the-root-begins',
      comment: 'At the root of src/ stands where the process begins, and the version; all else has a room.',
      severity: 'error',
      from: { path: '^src/[^/]+$', pathNot: '^src/(main|version)\\.ts$' },
      to: {},
    },
    {
      name: 'nobody-imports-main',
      comment: 'main.ts is where the process begins; what others need from it belongs to serve/ or below.',
      severity: 'error',
      from: {},
      to: { path: '^src/main\\.ts$' },
    },
    {
      name: 'src-needs-no-tests',
      comment: 'What runs for users does not lean on test support, benchmarks or tools.',
      severity: 'error',
      from: { path: '^src/', pathNot: tests },
      to: { path: '^(test|bench|tools)/' },
    },
    {
      name: 'runtime-dependencies-only',
      comment: 'A development dependency is not there when the published package runs.',
      severity: 'error',
      from: { path: '^src/', pathNot: tests },
      to: { dependencyTypes: ['npm-dev'] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    // A package of its own, whose imports are there only when its clients are installed.
    exclude: { path: '^test/clients/' },
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
