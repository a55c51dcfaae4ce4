/** `postern import` from a PostgreSQL as LiteLLM lays it out: read, and nothing written to it. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client } from 'pg';
import { parse } from 'yaml';
import { importCommand } from '../../src/cli/import/import.ts';
import { families } from '../../src/families/index.ts';
import { userFault } from '../support/gateways/command.ts';
import { createDirectory } from '../support/gateways/configuration.ts';
import { usePostgres, whyNoPostgres } from '../support/servers/postgres.ts';

const postgres = usePostgres();

const tables = `
  CREATE TABLE "LiteLLM_ProxyModelTable" (model_id text PRIMARY KEY, model_name text, litellm_params jsonb, model_info jsonb, blocked boolean DEFAULT false,
    created_at timestamp DEFAULT now(), created_by text, updated_at timestamp DEFAULT now(), updated_by text);
  CREATE TABLE "LiteLLM_TeamTable" (team_id text PRIMARY KEY, team_alias text, admins text[], members text[], metadata jsonb DEFAULT '{}', max_budget float8,
    spend float8 DEFAULT 0, models text[], max_parallel_requests int, tpm_limit bigint, rpm_limit bigint, budget_duration text, blocked boolean DEFAULT false);
  CREATE TABLE "LiteLLM_VerificationToken" (token text PRIMARY KEY, key_name text, key_alias text, spend float8 DEFAULT 0, expires timestamp, models text[],
    aliases jsonb DEFAULT '{}', team_id text, metadata jsonb DEFAULT '{}', blocked boolean, tpm_limit bigint, rpm_limit bigint, max_budget float8, budget_duration text);
  INSERT INTO "LiteLLM_ProxyModelTable" (model_id, model_name, litellm_params)
    VALUES ('1', 'embed', '{"model": "cohere/embed-v4.0", "api_key": "os.environ/COHERE_API_KEY"}');
  INSERT INTO "LiteLLM_TeamTable" (team_id, team_alias, max_budget, budget_duration, tpm_limit) VALUES ('t', 'search', 9, '1d', 5000000000);
  INSERT INTO "LiteLLM_VerificationToken" (token, key_alias, models, team_id, expires) VALUES (repeat('ab', 32), 'one', '{embed}', 't', '2030-01-02 03:04:05');
`;

test('keys, teams and models come out of it, and its password nowhere', { skip: whyNoPostgres }, async (t) => {
  const url = await postgres().createDatabase();
  const client = new Client({ connectionString: url });
  await client.connect();
  t.after(() => client.end());
  const cwd = await createDirectory(t, {});
  const lines: string[] = [];
  const say = (line: string): void => void lines.push(line);
  const run = (source: string) =>
    importCommand.run({
      ...{ configPath: undefined, set: [], env: {}, cwd, families, stdout: say, stderr: say, values: {} },
      positionals: ['litellm', source],
    });
  await assert.rejects(run(url), userFault(/no table LiteLLM_ProxyModelTable/));
  await client.query(tables);
  assert.equal(await run(url), 0);
  const config = parse(await readFile(join(cwd, 'postern.yaml'), 'utf8'));
  assert.deepEqual(config.projects, [
    { id: 'search', limits: { tokens_per_minute: 5_000_000_000 }, budgets: [{ every: 'day', amount: 9 }] },
  ]);
  const [key, ...others] = config.keys;
  assert.partialDeepStrictEqual(key, {
    id: 'one',
    secret_sha256: 'ab'.repeat(32),
    models: ['embed'],
    project: 'search',
  });
  assert.deepEqual(others, []);
  assert.deepEqual(config.models[0].targets, [{ upstream: config.upstreams[0].id, model: 'embed-v4.0' }]);

  const wrong = new URL(url);
  wrong.password = 'a-password-of-theirs';
  wrong.username = 'nobody-there';
  await assert.rejects(run(wrong.href), userFault(/cannot be read/));
  assert.ok(!lines.join('\n').includes('a-password-of-theirs'));
});
