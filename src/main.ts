/** Entry point: reads the environment, runs the command, and sets the exit code. */

import { registerHooks } from 'node:module';
import { parseArgs } from 'node:util';
import { type CommandContext, toConfigSources, toHelp, toOptionFault } from './cli/command.ts';
import { commandNames, isCommandName, loadCommand } from './cli/index.ts';
import { FaultsFound, printFaults } from './cli/output.ts';
import { type CommandName, words } from './cli/words.ts';
import { type ExitCode, UserFault } from './core/user-fault.ts';
import { nearHint } from './lib/nearest-name.ts';
import { withMasks } from './lib/secrets/secret-shapes.ts';
import { traceOf } from './lib/thrown.ts';
import { version } from './version.ts';

/** Secrets of services that occur in a name by mistake are masked in every command's output. */
const stdout = (line: string): void => void process.stdout.write(`${withMasks(line)}\n`);
const stderr = (line: string): void => void process.stderr.write(`${withMasks(line)}\n`);

/** A reader that closes early, such as `head`, is no fault: the command continues silently. */
const unread = new AbortController();
/** If the output cannot be written, a gateway serves all the same, as its log waits for space; a command's result would be lost. */
let serves = false;
process.stderr.on('error', () => undefined);
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code !== 'EPIPE' && !unread.signal.aborted) fault(`standard output cannot be written (${code})`);
  unread.abort();
  if (code !== 'EPIPE' && !serves) process.exit(1);
});

/** Our modules have relative paths with extensions: looking up 600 of them on the disk took a quarter of a command's CPU. */
const here = new URL('.', import.meta.url).href;
const format = import.meta.url.endsWith('.ts') ? 'module-typescript' : 'module';
registerHooks({
  resolve(specifier, context, next) {
    if (!/^(?:\.|node:)/.test(specifier) || !context.conditions.includes('import')) return next(specifier, context);
    const url = new URL(specifier, context.parentURL).href;
    return { url, format: url.startsWith(here) ? format : undefined, shortCircuit: true };
  },
});

process.exitCode = await main(process.argv.slice(2));
// A gateway that ended well does not wait for a telemetry export without an answer. After a fault, the end waits until its text is written.
if (serves && process.exitCode === 0) process.exit();

async function main(argv: readonly string[]): Promise<ExitCode> {
  const [first = '', ...rest] = argv;
  if (['help', '--help', '-h'].includes(first)) return help();
  if (['version', '--version', '-v'].includes(first)) {
    stdout(version);
    return 0;
  }
  if (first === '' || first.startsWith('-')) return run('serve', argv);
  if (isCommandName(first)) return run(first, rest);
  return fault(`there is no command "${first}"${nearHint(first, commandNames)} (postern help lists them)`);
}

async function run(name: CommandName, args: readonly string[]): Promise<ExitCode> {
  serves = name === 'serve';
  // Loading takes a second on a busy machine. A reload signal would end the process meanwhile, and there is nothing to reload yet.
  for (const signal of serves ? (['SIGHUP', 'SIGUSR2'] as const) : []) process.on(signal, () => undefined);
  const command = await loadCommand(name);
  if (args.includes('--help') || args.includes('-h')) {
    for (const line of toHelp(command)) stdout(line);
    return 0;
  }
  let parsed: Pick<CommandContext, 'values' | 'positionals'>;
  try {
    parsed = parseArgs({ args: [...args], options: command.options, allowPositionals: true });
  } catch (error) {
    return fault(toOptionFault(error, command, args));
  }
  try {
    const { env, cwd } = process;
    // Loaded only for commands that run: not for help, or an unknown option.
    const { families } = await import('./families/index.ts');
    return await command.run({
      ...parsed,
      ...toConfigSources(parsed.values),
      env,
      cwd: cwd(),
      families,
      loadTakenPaths: async () => (await import('./routes/index.ts')).takenPaths,
      stdout,
      stderr,
      terminal: process.stdout.isTTY ? stdout : process.stderr.isTTY ? stderr : undefined,
      unread: unread.signal,
    });
  } catch (error) {
    if (error instanceof UserFault) return fault(error.message);
    if (error instanceof FaultsFound) {
      printFaults(error, stderr);
      return 1;
    }
    if (error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd') {
      return fault('the working directory was deleted; change into one that exists');
    }
    stderr(`postern: ${traceOf(error)}`);
    return 2;
  }
}

function fault(sentence: string): ExitCode {
  stderr(`postern: ${sentence}`);
  return 1;
}

function help(): ExitCode {
  stdout(`postern ${version}: an AI gateway for embeddings, rerank, moderations, completions, edits and chat.\n`);
  const all = Object.values(words);
  const width = Math.max(...all.map(({ usage }) => usage.length));
  for (const { usage, summary } of all) stdout(`  postern ${usage.padEnd(width)}  ${summary}`);
  return 0;
}
