import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setUpCommand, userFault } from '../../../test/support/gateways/command.ts';
import { hostileTexts } from '../../../test/support/json/hostile-texts.ts';
import { imported, rowId } from '../../../test/support/ledger/ledger-rows.ts';
import { writeJournal } from '../../../test/support/ledger/orphan-journal.ts';
import type { ImportedRow } from '../../core/store/ledger.ts';
import { toCsvText } from '../../lib/csv.ts';
import { toShortDollars, usage } from './usage.ts';

const dayMs = 86_400_000;
const todayMs = Math.floor(Date.now() / dayMs) * dayMs;
const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

async function setUp(t: TestContext, rows: readonly ImportedRow[], more: Readonly<Record<string, unknown>> = {}) {
  const command = await setUpCommand(t, usage, more);
  await command.withStore((store) => store.ledger.import('j', rows, { segment: 1, offset: 1 }));
  return command;
}

const someRows = () => [
  imported({ startedAtMs: todayMs, key: 'a', project: 'p', costNanos: 1_500_000_000, items: 4 }),
  imported({ startedAtMs: todayMs, key: 'b', outcome: 'error', costNanos: null, isEstimated: true }),
  imported({ startedAtMs: todayMs - 29 * dayMs, key: 'a', costNanos: 1 }),
  imported({ startedAtMs: todayMs - 30 * dayMs, key: 'a' }),
];

test('usage shows the last thirty days by day, with the total', async (t) => {
  const { run } = await setUp(t, someRows());
  const { code, lines } = await run();
  assert.equal(code, 0);
  assert.deepEqual(lines, [
    'DAY         REQUESTS  ERRORS  INPUT  OUTPUT  UNITS  ITEMS    DOLLARS  UNPRICED  ESTIMATED',
    `${dateOf(todayMs - 29 * dayMs)}         1       0     10       0      0      1  <0.000001         0          0`,
    `${dateOf(todayMs)}         2       1     20       0      0      5       1.50         1          1`,
    'total              3       1     30       0      0      6       1.50         1          1',
    '',
    'Dollars are rounded to six decimals here; --csv and --json have all of them.',
    'The cost of unpriced requests is unknown and not in the sum.',
  ]);
});

test('usage shows the date and age of the built-in prices in use', async (t) => {
  const upstreams = [{ id: 'real', family: 'openai', api_key: 'sk-0123456789' }];
  const model = { operations: ['embeddings'], targets: [{ upstream: 'real' }] };
  const models = [
    { id: 'text-embedding-3-small', ...model },
    { id: 'text-embedding-3-large', ...model, price: { input: 0.1 } },
  ];
  const { run, json } = await setUp(t, [imported({ startedAtMs: todayMs, key: 'a', costNanos: 0 })], {
    upstreams,
    models,
  });
  const { lines } = await run();
  const [last = ''] = lines.slice(-1);
  assert.match(last, /^1 model goes by prices that come with Postern, as of 2025-11-01, \d+ days old\.$/);
  assert.deepEqual((await json()).prices, [{ source: 'table', as_of: '2025-11-01', models: 1 }]);
});

test('usage groups by the requested fields, in the given order', async (t) => {
  const { run } = await setUp(t, someRows());
  const { lines } = await run('--by', 'project, key', '--from', '40d', '--csv');
  assert.deepEqual(
    lines.map((line) => line.split(',').slice(0, 3).join(',')),
    ['project,key,requests', ',a,2', ',b,1', 'p,a,1'],
  );
});

test('usage as JSON has exact costs as text, null for missing values, and the total', async (t) => {
  const { json } = await setUp(t, someRows());
  const { lines, total, from, to } = await json('--by', 'project');
  assert.equal(from, `${dateOf(todayMs - 29 * dayMs)}T00:00:00.000Z`);
  assert.equal(to, null);
  assert.deepEqual(lines[0], {
    ...{ project: null, requests: 2, errors: 1, input_tokens: 20, output_tokens: 0, search_units: 0, items: 2 },
    ...{ cost_dollars: '0.000000001', unpriced: 1, estimated: 1, request_bytes: 200, response_bytes: 4_000 },
    duration_ms: 25,
    units: {},
  });
  assert.equal(total.cost_dollars, '1.500000001');
});

test('usage shows columns for units such as images only if a row has some, and in CSV always', async (t) => {
  const tools = { toolCalls: { web_search: 2, code: 1 } };
  const { run, json } = await setUp(t, [
    imported({ startedAtMs: todayMs, key: 'a', cachedTokens: 4, units: { images: 2, seconds: 1.5, ...tools } }),
    imported({ startedAtMs: todayMs, key: 'b', units: { savedItems: 3, savedTokens: 30, savedNanos: 2_500_000 } }),
    imported({ startedAtMs: todayMs, key: 'c' }),
  ]);
  const { lines } = await run('--by', 'key');
  assert.deepEqual(
    lines.map((line) => line.split(/ {2,}/).slice(10).join(' | ')),
    [
      'CACHED | IMAGES | SECONDS | TOOL CALLS | SAVED ITEMS | SAVED DOLLARS',
      '4 | 2 | 1.5 | 3 | 0 | 0',
      '0 | 0 | 0 | 0 | 3 | 0.0025',
      '0 | 0 | 0 | 0 | 0 | 0',
      '4 | 2 | 1.5 | 3 | 3 | 0.0025',
    ],
  );
  const { lines: listed, total } = await json('--by', 'key');
  assert.deepEqual(
    listed.map(({ units }: { units: unknown }) => units),
    [
      { cached_tokens: 4, images: 2, seconds: 1.5, tool_calls: { web_search: 2, code: 1 } },
      { saved_items: 3, saved_tokens: 30, saved_nanos: 2_500_000 },
      {},
    ],
  );
  assert.equal(total.units.images, 2);
  const { lines: csv } = await run('--by', 'key', '--csv');
  const [head = [], ...rows] = csv.map((line) => line.split(','));
  const column = (name: string) => rows.map((row) => row[head.indexOf(name)]);
  assert.deepEqual(column('seconds'), ['1.5', '0', '0']);
  assert.deepEqual(column('saved_nanos'), ['0', '2500000', '0']);
  assert.deepEqual(column('tool_calls'), ['3', '0', '0']);
});

test('the time span of usage is two dates, both included, or a duration until now', async (t) => {
  const { json } = await setUp(t, someRows());
  const count = async (...args: string[]) => (await json(...args)).total.requests;
  assert.equal(await count('--from', dateOf(todayMs - 30 * dayMs), '--to', dateOf(todayMs - 29 * dayMs)), 2);
  assert.equal(await count('--from', dateOf(todayMs - 30 * dayMs), '--to', dateOf(todayMs - 30 * dayMs)), 1);
  assert.equal(await count('--from', '1d'), 2);
  assert.equal(await count('--from', '31d'), 4);
  assert.equal(await count('--from', '31d', '--to', `${dateOf(todayMs)}T00:00Z`), 2);
  assert.equal(await count('--key', 'a', '--outcome', 'ok'), 2);
});

test('usage refuses invalid option values and names the option', async (t) => {
  const { run } = await setUp(t, []);
  const refusals: [args: string[], message: RegExp][] = [
    [['--by', 'kee'], /--by: there is no group "kee"; did you mean key\? \(there are key, project,/],
    [['--by', 'key,,day'], /--by: "key,,day" holds an empty name/],
    [['--by', ''], /--by is empty/],
    [['--from', '2026-02-30'], /--from: "2026-02-30" is neither a date such as/],
    [['--from', 'yesterday'], /--from: "yesterday" is neither/],
    [['--to', '1969-01-01'], /--to: "1969-01-01" is neither/],
    [['--from', '40000d'], /--from: 40000d ago is before 1970/],
    [['--from', '2026-11-20', '--to', '2026-11-19'], /--from: 2026-11-20 is not before --to, 2026-11-19/],
    [['--operation', 'rerenk'], /--operation: there is no operation "rerenk"; did you mean rerank\?/],
    [['--outcome', 'fine'], /--outcome: there is no outcome "fine" \(there are ok, error,/],
    [['--key', ' '], /--key is empty/],
    [['--csv', '--json'], /exclude each other/],
    [['key'], /usage takes no argument "key"/],
  ];
  for (const [args, message] of refusals) await assert.rejects(run(...args), userFault(message), args.join(' '));
});

test('usage treats SQL and control characters in filters and rows as data', async (t) => {
  const rows = hostileTexts.map((text) => imported({ startedAtMs: todayMs, key: text, model: text }));
  const { run, json } = await setUp(t, rows);
  for (const text of hostileTexts) {
    if (text.trim() !== text || text === '') continue;
    assert.equal((await json('--key', text, '--model', text, '--project', text)).total.requests, 0);
    assert.equal((await json('--key', text, '--model', text)).total.requests, 1, text);
  }
  const { lines } = await run('--by', 'key,model');
  // No stored text starts a line or moves the cursor.
  assert.equal(lines.length, hostileTexts.length + 2);
  for (const line of lines) assert.doesNotMatch(line, /\p{Cc}/u);
});

test('usage as CSV is quoted and contains no spreadsheet formula', async (t) => {
  const cells: [text: string, cell: string][] = [
    ['plain', 'plain'],
    ['a,b', '"a,b"'],
    ['a "b"', '"a ""b"""'],
    ['a\nb', '"a\nb"'],
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@x', "'@x"],
    ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
    ['', ''],
  ];
  for (const [text, cell] of cells) assert.equal(toCsvText(text), cell);
  const { run } = await setUp(t, [imported({ startedAtMs: todayMs, key: '=cmd,1' })]);
  const { lines } = await run('--by', 'key', '--csv');
  assert.equal(lines[1], `"'=cmd,1",1,0,10,0,0,1,0.000001,0,0,100,2000,13,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0`);
});

test('usage rounds costs only in tables, and never a positive cost to zero', () => {
  const shown: [nanos: bigint, text: string][] = [
    [0n, '0.00'],
    [1n, '<0.000001'],
    [1_000n, '0.000001'],
    [1_499n, '0.000001'],
    [1_500n, '0.000002'],
    [12_500_000_000n, '12.50'],
    [9_007_199_254_740_993_000_000_000n, '9007199254740993.00'],
    [-1n, '>-0.000001'],
    [-2_000_000_000n, '-2.00'],
  ];
  for (const [nanos, text] of shown) assert.equal(toShortDollars(nanos), text);
});

test('rows that wait in journals are reported beside the sums, which do not include them', async (t) => {
  const { run, json, cwd, withStore } = await setUp(t, someRows());
  assert.equal((await json()).rows_waiting, 0);
  await writeJournal(
    join(cwd, 'store', 'journal'),
    [1, 2].map((number) => rowId(todayMs, number)),
    await withStore((store) => store.settings.installation()),
  );
  const { lines, errors } = await run();
  assert.equal(lines.at(3)?.split(/ +/)[1], '3');
  assert.match(errors[0] ?? '', /^2 rows wait in the journal and are not counted yet/);
  assert.equal((await json()).rows_waiting, 2);
  assert.deepEqual((await run('--json')).errors, []);
});
