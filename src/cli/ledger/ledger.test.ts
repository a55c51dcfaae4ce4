import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setUpCommand, userFault } from '../../../test/support/gateways/command.ts';
import { compileCache, launcher } from '../../../test/support/gateways/gateway-process.ts';
import { hostileTexts } from '../../../test/support/json/hostile-texts.ts';
import { imported, rowId } from '../../../test/support/ledger/ledger-rows.ts';
import { writeJournal } from '../../../test/support/ledger/orphan-journal.ts';
import { tamper } from '../../../test/support/stores/tampering.ts';
import { until } from '../../../test/support/time/until.ts';
import type { LedgerRow } from '../../core/accounting/ledger-row.ts';
import type { ImportedRow } from '../../core/store/ledger.ts';
import { UserFault } from '../../core/user-fault.ts';
import { follow, ledger } from './ledger.ts';

const startMs = Date.UTC(2026, 10, 1);

async function setUp(t: TestContext, rows: readonly ImportedRow[]) {
  const command = await setUpCommand(t, ledger);
  const add = (more: readonly ImportedRow[]) =>
    command.withStore((store) => store.ledger.import('j', more, { segment: 1, offset: 1 }));
  await add(rows);
  return { ...command, add };
}

const numbered = (count: number, more: Partial<ImportedRow['row']> = {}): ImportedRow[] =>
  Array.from({ length: count }, (_, n) => imported({ startedAtMs: startMs + n, ...more }));

test('ledger tail shows the newest rows, the newest last', async (t) => {
  const rows = numbered(30);
  const { run } = await setUp(t, rows);
  const { code, lines } = await run('tail');
  assert.equal(code, 0);
  assert.match(lines[0] ?? '', /^STARTED +STATUS +OUTCOME +KEY +ROUTE/);
  assert.deepEqual(
    lines.slice(1).map((line) => line.split(/ +/).at(-1)),
    rows.slice(-20).map(({ row }) => row.id),
  );
  assert.match(lines[20] ?? '', /^2026-11-01T00:00:00\.029Z {2}200 {5}ok {7}dev .* 0\.000001 .* 12\.5/);
});

test('ledger tail takes filters, a time span and a limit above the size of one page', async (t) => {
  const { run } = await setUp(t, [...numbered(1_500), ...numbered(3, { key: 'b', outcome: 'error', status: 502 })]);
  const count = async (...args: string[]) => (await run('tail', '--json', ...args)).lines.length;
  assert.equal(await count('--limit', '1200'), 1_200);
  assert.equal(await count('--limit', '100000'), 1_503);
  assert.equal(await count('--key', 'b', '--status', '502', '--outcome', 'error'), 3);
  assert.equal(await count('--key', 'b', '--outcome', 'ok'), 0);
  assert.equal(await count('--from', '2026-11-01', '--to', '2026-11-01', '--limit', '2000'), 1_503);
  assert.equal(await count('--from', '2026-11-02'), 0);
});

test('each line of ledger tail --json is a row with its exact cost', async (t) => {
  const { run } = await setUp(t, [imported({ startedAtMs: startMs, costNanos: 123_456_789_012 })]);
  const { lines } = await run('tail', '--json');
  const row = JSON.parse(lines[0] ?? '');
  assert.equal(row.cost_dollars, '123.456789012');
  assert.equal(row.started_at, '2026-11-01T00:00:00.000Z');
  assert.equal(row.project, null);
});

test('ledger show prints every field of a row, and its captured bodies', async (t) => {
  const attempt = { upstream: 'far', model: 'm', credential: 'key 1', outcome: 'refused', detail: 429, durationMs: 3 };
  const tries = [attempt, { ...attempt, connectMs: 1.5 }];
  const kept = imported({ startedAtMs: startMs, tries, costNanos: null, connectMs: 0.5 });
  const capture = { request: '{"input":"\u001b[2J"}', response: 'b', expiresAtMs: Date.now() + 60_000 };
  const { run, json } = await setUp(t, [{ ...kept, capture }, ...numbered(1)]);
  const { lines } = await run('show', kept.row.id.toUpperCase());
  const said = new Map(lines.map((line) => [line.split(/ {2,}/)[0], line.split(/ {2,}/)[1]]));
  assert.equal(said.get('id'), kept.row.id);
  assert.equal(said.get('cost_dollars'), '-');
  assert.equal(said.get('connect_ms'), '0.5');
  assert.equal(said.get('try 1'), 'far m key 1 refused 429 3 ms');
  assert.equal(said.get('try 2'), 'far m key 1 refused 429 3 ms, 1.5 ms of it until connected');
  assert.equal(said.get('request'), '{"input":"\\u001b[2J"}');
  assert.deepEqual((await json('show', kept.row.id)).capture, { request: capture.request, response: 'b' });
});

test("ledger show finds rows by request ID first, then by the client's own request ID", async (t) => {
  const clientRequestId = 'Order-7';
  const rows = [...numbered(7, { clientRequestId }), ...numbered(1, { startedAtMs: startMs + 100 })];
  const { run, json } = await setUp(t, rows);
  const { lines, errors } = await run('show', clientRequestId);
  const shown = lines.flatMap((line) => (line.startsWith('id ') ? [line.split(/ +/)[1]] : []));
  const newest = rows.slice(2, 7).map(({ row }) => row.id);
  assert.deepEqual(shown, newest.toReversed());
  assert.match(errors.join(), /these are the newest 5/);
  await assert.rejects(run('show', 'order-7'), userFault(/has no row with this ID/));
  const tail = await run('tail', '--json', '--request-id', clientRequestId, '--key', 'dev', '--outcome', 'ok');
  assert.equal(tail.lines.length, 7);
  assert.equal((await run('tail', '--json', '--request-id', clientRequestId, '--key', 'b')).lines.length, 0);
  const own = rows[0]?.row.id ?? '';
  assert.equal((await json('show', own)).id, own);
});

test('ledger tail reports that the ledger is empty', async (t) => {
  const { run, add } = await setUp(t, []);
  assert.deepEqual(await run('tail'), { code: 0, lines: ['The ledger is empty.'], errors: [] });
  await add(numbered(1));
  assert.deepEqual((await run('tail', '--key', 'b')).errors, ['postern: the ledger holds no such row']);
});

test('ledger tail ends silently when its output pipe is closed', async (t) => {
  const { cwd } = await setUp(t, numbered(2_000));
  const { PATH = '', HOME = '' } = process.env;
  const shell = `"${launcher}" ledger tail --limit 2000 | head -1; echo "\${PIPESTATUS[0]}"`;
  const child = spawn('bash', ['-c', shell], { cwd, env: { PATH, HOME, NODE_COMPILE_CACHE: compileCache } });
  const said: Record<'stdout' | 'stderr', string> = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (bytes) => (said[name] += String(bytes)));
  await once(child, 'close');
  assert.match(said.stdout, /^STARTED .*\n0\n$/);
  assert.equal(said.stderr, '');
});

test('ledger refuses invalid option values and names the option', async (t) => {
  const { run } = await setUp(t, []);
  const refusals: [args: string[], message: RegExp][] = [
    [[], /ledger needs an action: tail, show/],
    [['tial'], /there is no "ledger tial"; did you mean tail\?/],
    [['tail', '--limit', '0'], /--limit: "0" is no whole number from 1 to 100000/],
    [['tail', '--limit', '1e3'], /--limit: "1e3" is no whole number/],
    [['tail', '--status', '2xx'], /--status: "2xx" is no whole number from 0 to 599/],
    [['tail', '--operation', 'embedings'], /did you mean embeddings\?/],
    [['tail', '--from', '5d', '--to', '9d'], /--from: 5d is not before --to, 9d/],
    [['tail', '-f', '--to', '1d'], /--follow and --to exclude each other/],
    [['show'], /write it as "postern ledger show ID/],
    [['show', ''], /name the row/],
    [['show', "' OR ''='"], /the ledger has no row with this ID/],
    [['show', rowId(startMs, 77)], /the ledger has no row with this ID/],
    [['verify', '--key', 'a'], /"ledger verify" takes no --key/],
  ];
  for (const [args, message] of refusals) await assert.rejects(run(...args), userFault(message), args.join(' '));
});

test('ledger treats SQL and control characters in filters and rows as data', async (t) => {
  const rows = hostileTexts.map((text, n) => imported({ startedAtMs: startMs + n, key: text, upstream: text }));
  const { run } = await setUp(t, rows);
  for (const text of hostileTexts) {
    if (text.trim() !== text || text === '') continue;
    assert.equal((await run('tail', '--json', '--key', text, '--upstream', text)).lines.length, 1, text);
    assert.equal((await run('tail', '--json', '--project', text, '--model', text)).lines.length, 0, text);
  }
  const { lines } = await run('tail', '--limit', '100');
  assert.equal(lines.length, hostileTexts.length + 1);
  for (const line of lines) assert.doesNotMatch(line, /\p{Cc}/u);
});

test('ledger verify reports that rows and sums agree, or where they differ', async (t) => {
  const { run, cwd } = await setUp(t, numbered(10));
  assert.deepEqual((await run('verify')).lines, ['Rows and sums agree.']);
  tamper(join(cwd, 'store', 'keys.db'), 'UPDATE usage_hours SET requests = 11');
  await assert.rejects(run('verify'), userFault(/^rows and sums of the ledger differ in 2 places$/));
  await assert.rejects(run('verify', '--from', '2026-11-01'), userFault(/differ/));
  assert.deepEqual((await run('verify', '--from', '2026-11-02')).lines, ['Rows and sums agree.']);
});

test('ledger verify reports rows that wait in journals for import', async (t) => {
  const { run, cwd, withStore } = await setUp(t, []);
  const identity = await withStore((store) => store.settings.installation());
  await writeJournal(join(cwd, 'store', 'journal'), [rowId(startMs, 1)], identity);
  await writeJournal(join(cwd, 'store', 'journal'), [rowId(startMs, 2)], 'another store');
  const { lines } = await run('verify');
  assert.match(lines[0] ?? '', /^In directory 1000 of the journal, \d+ bytes \(1 rows\) are not in the store yet\.$/);
  assert.equal(lines[1], 'Rows and sums agree.');
});

test('ledger prune reports how many expired rows it would delete, and deletes them with --confirm', async (t) => {
  const { run, withStore } = await setUp(t, [
    imported({ startedAtMs: Date.now() - 91 * 86_400_000 }),
    imported({ startedAtMs: Date.now() }),
  ]);
  await withStore((store) => store.ledger.setMark(startMs));
  const { lines } = await run('prune');
  assert.equal(lines[1], 'The last time in the store is 2026-11-01T00:00:00.000Z.');
  assert.match(lines[2] ?? '', /^1 rows began before .+; --confirm deletes them\.$/);
  assert.match((await run('prune', '--confirm')).lines[0] ?? '', /^1 rows and captures .+ are deleted/);
  assert.equal((await run('tail', '--json')).lines.length, 1);
  const markMs = await withStore((store) => store.ledger.readMark());
  assert.ok(markMs !== undefined && markMs > Date.now() - 60_000);
  const [entry, ...others] = await withStore((store) => store.audit.page({ limit: 9 }));
  assert.deepEqual([entry?.actor, entry?.action, others], ['command line', 'ledger.prune', []]);
  assert.deepEqual([entry?.before, entry?.after], [{ rows: 1 }, { rows: 0 }]);
});

test('ledger tail --follow shows new rows, also those of requests that began before the last row shown', async (t) => {
  const { cwd, add } = await setUp(t, numbered(2));
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(launcher, ['ledger', 'tail', '-f', '--json', '--limit', '1'], {
    cwd,
    env: { PATH, HOME, NODE_COMPILE_CACHE: compileCache },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  let out = '';
  child.stdout.on('data', (bytes: Buffer) => {
    out += bytes.toString();
  });
  const shown = (): string[] =>
    out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line).key);
  await until(() => shown().length >= 1);
  await add([imported({ startedAtMs: startMs + 200, key: 'late' })]);
  await until(() => shown().length >= 2);
  await add([
    imported({ startedAtMs: startMs + 100, key: 'slow' }),
    imported({ startedAtMs: startMs + 300, key: 'new' }),
  ]);
  await until(() => shown().length >= 4);
  assert.deepEqual(shown(), ['dev', 'late', 'slow', 'new']);
});

test('ledger tail --follow continues after the store was unreachable, and ends at any other error', async () => {
  const away = new UserFault('the store is unreachable');
  const { row } = imported({ startedAtMs: startMs });
  const looks = [away, away, [row as LedgerRow], new TypeError('a bug')];
  const page = async () => {
    const look = looks.shift() ?? [];
    if (look instanceof Error) throw look;
    return { rows: look, next: undefined };
  };
  const shown: string[] = [];
  const said: string[] = [];
  const show = ({ id }: LedgerRow) => void shown.push(id);
  const context = { stderr: (line: string) => void said.push(line) };
  await assert.rejects(follow({ page }, {}, [], show, context), /a bug/);
  assert.deepEqual(shown, [row.id]);
  assert.deepEqual(said, ['postern: the store is unreachable', 'postern: the store answers again']);
});
