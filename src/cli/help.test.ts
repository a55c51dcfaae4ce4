import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { userFault } from '../../test/support/gateways/command.ts';
import { type Command, optionsIn, toConfigSources, toHelp, toOptionFault } from './command.ts';
import { commandNames, loadCommand } from './index.ts';
import { ledger } from './ledger/ledger.ts';
import { usage } from './ledger/usage.ts';

function faultOf(command: Command, ...args: string[]): string {
  try {
    parseArgs({ args, options: command.options, allowPositionals: true });
  } catch (error) {
    return toOptionFault(error, command, args);
  }
  throw new Error(`${args.join(' ')} was taken`);
}

test('help lists every action with its arguments, or every option', () => {
  const ofLedger = toHelp(ledger);
  assert.ok(ofLedger.some((line) => /^ {2}postern ledger tail .*\[--follow\|-f\]/.test(line)));
  assert.ok(ofLedger.includes('  postern ledger show ID [--json]'));
  assert.ok(toHelp(usage).includes('  --upstream VALUE'));
  assert.ok(toHelp(usage).includes('  --csv'));
});

test('options are parsed from the usage text: with a value, as a letter, or repeatable', () => {
  const usage = 'do ID [--at 7d|2026-11-01] [--csv|--json] [--follow|-f] [--from cidr,..] [--note NAME=TEXT]... --to X';
  const text = { type: 'string' };
  const flag = { type: 'boolean' };
  assert.deepEqual(optionsIn(usage), {
    at: text,
    csv: flag,
    json: flag,
    follow: { ...flag, short: 'f' },
    from: text,
    note: { ...text, multiple: true },
    to: text,
  });
});

test('an unknown option is refused and the most similar option suggested', () => {
  const faults: [args: string[], message: RegExp][] = [
    [['tail', '-n', '5'], /^unknown option -n; did you mean --limit\? \(usage: postern ledger tail \[--limit N\]/],
    [['tail', '--folow'], /^unknown option --folow; did you mean --follow\?/],
    [['tail', '--zzzzzzzz'], /^unknown option --zzzzzzzz \(usage/],
    [['tail', '--follow=1'], /^--follow takes no value \(usage/],
    [['tail', '--limit'], /^--limit needs a value; write one that begins with - as --limit=-\.\.\./],
    [['tail', '--limit', '-5'], /^--limit needs a value/],
    [['--zzzzzzzz'], /\(usage: postern ledger tail\|show\|verify\|prune\|adopt /],
  ];
  for (const [args, message] of faults) assert.match(faultOf(ledger, ...args), message, args.join(' '));
});

test('a command without operands refuses an argument', async () => {
  for (const name of ['serve', 'check', 'init', 'models', 'top', 'usage', 'migrate', 'openapi'] as const) {
    const command = await loadCommand(name);
    const message = new RegExp(`^${name} takes no argument "other\\.yaml" \\(usage: postern ${name} \\[--`);
    await assert.rejects(command.run({ positionals: ['other.yaml'] } as never), userFault(message));
  }
  assert.throws(() => toConfigSources({ config: '' }), userFault(/^--config is empty; name a file/));
});

test('the list of commands names every action', async () => {
  for (const name of commandNames) {
    const command = await loadCommand(name);
    assert.equal(command.name, name);
    const listed = command.usage.split(' ')[1]?.replace(/[[\]]/g, '').split('|');
    if (command.actions !== undefined) assert.deepEqual(listed, Object.keys(command.actions), name);
  }
});

test('help and --version load no command, store or configuration module', async () => {
  for (const args of [['--help'], ['--version'], ['kyes']]) {
    const loaded = await modulesLoadedBy(args);
    assert.deepEqual(
      loaded.filter((path) => /node_modules|\/src\/(?!main|version|cli\/|core\/|lib\/)/.test(path)),
      [],
      args.join(' '),
    );
    assert.ok(loaded.length < 15, `${args.join(' ')}: ${loaded.length} modules`);
  }
});

test('a command loads only the modules it needs: no server, console or pipeline', async () => {
  for (const args of [
    ['keys', 'list', '--zzz'],
    ['check', '--zzz'],
  ]) {
    const loaded = await modulesLoadedBy(args);
    assert.ok(loaded.some((path) => path.includes(`/cli/${args[0]}/`)));
    assert.deepEqual(
      loaded.filter((path) => /\/src\/(?:admin|http|pipeline|wire|upstream)\/|\/(?:pino|hono|pg|@redis)\//.test(path)),
      [],
      args.join(' '),
    );
  }
});

test('check reads a plain YAML file without loading the YAML library, routes or client APIs', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'postern-loads-'));
  t.after(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, 'postern.yaml'), 'upstreams:\n  - { id: here, family: local }\n');
  const plain = await modulesLoadedBy(['check'], directory);
  assert.deepEqual(
    plain.filter((path) => /\/node_modules\/yaml\/|\/src\/(?:routes|apis)\//.test(path)),
    [],
  );
  assert.ok(plain.some((path) => path.includes('/node_modules/zod/')));
});

/** The files that `postern` loads. */
async function modulesLoadedBy(args: readonly string[], cwd?: string): Promise<string[]> {
  const watching = `data:text/javascript,${encodeURIComponent(`
    import { writeSync } from 'node:fs';
    import { registerHooks } from 'node:module';
    registerHooks({ load(url, context, next) { if (url.startsWith('file:')) writeSync(1, 'LOADED ' + url + '\\n'); return next(url, context); } });
  `)}`;
  const main = fileURLToPath(new URL('../main.ts', import.meta.url));
  const run = promisify(execFile)(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--import', watching, main, ...args],
    { cwd },
  );
  const { stdout } = await run.catch((error: { readonly stdout: string }) => error);
  return [...stdout.matchAll(/^LOADED (.*)$/gm)].map(([, url = '']) => url);
}
