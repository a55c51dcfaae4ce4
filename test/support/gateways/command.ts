/** Runs a command with several actions on its own configuration and store. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { parseArgs } from 'node:util';
import { type Command, toConfigSources } from '../../../src/cli/command.ts';
import { FaultsFound, printFaults } from '../../../src/cli/output.ts';
import type { KeyRecord } from '../../../src/core/key.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { families } from '../../../src/families/index.ts';
import { digestOf } from '../../../src/lib/secrets/key-secret.ts';
import { openStore } from '../../../src/store/open-store.ts';

export const commandConfiguration = {
  store: 'sqlite:store/keys.db',
  upstreams: [
    { id: 'one', family: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: 'upstream-secret-of-the-file' },
  ],
  models: [{ id: 'bge-m3', aliases: ['bge'], operations: ['embeddings'], targets: [{ upstream: 'one' }] }],
};

export interface Outcome {
  readonly code: number;
  /** Standard output, line by line. */
  readonly lines: readonly string[];
  readonly errors: readonly string[];
}

/** As `postern keys ...` and the like would run it. */
export async function setUpCommand(
  t: TestContext,
  command: Command,
  more: Readonly<Record<string, unknown>> = {},
  env: Readonly<Record<string, string>> = {},
) {
  const cwd = await mkdtemp(join(tmpdir(), 'postern-command-'));
  t.after(() => rm(cwd, { recursive: true, force: true, maxRetries: 20 }));
  await writeFile(join(cwd, 'postern.yaml'), JSON.stringify({ ...commandConfiguration, ...more }));

  async function runAs(
    other: Command,
    surroundings: Readonly<Record<string, string>>,
    ...args: string[]
  ): Promise<Outcome> {
    const { values, positionals } = parseArgs({ args, options: other.options, allowPositionals: true });
    const lines: string[] = [];
    const errors: string[] = [];
    const context = { values, positionals, ...toConfigSources(values), env: surroundings, cwd, families };
    const stderr = (line: string) => errors.push(line);
    try {
      const code = await other.run({ ...context, stdout: (line) => lines.push(line), stderr });
      return { code, lines, errors };
    } catch (error) {
      if (!(error instanceof FaultsFound)) throw error;
      printFaults(error, stderr);
      return { code: 1, lines, errors };
    }
  }

  async function withStore<T>(act: (store: Store) => Promise<T>): Promise<T> {
    const store = await openStore(commandConfiguration.store, { cwd });
    try {
      return await act(store);
    } finally {
      await store.close();
    }
  }

  return {
    cwd,
    run: (...args: string[]) => runAs(command, env, ...args),
    runAs,
    json: async (...args: string[]) => JSON.parse((await runAs(command, env, ...args, '--json')).lines.join('\n')),
    withStore,
    find: (secret: string): Promise<KeyRecord | undefined> => withStore((store) => store.keys.find(digestOf(secret))),
  };
}

export const userFault = (message: RegExp) => ({ name: /^(?:UserFault|Store(?:Away)?Error)$/, message });
