import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { userFault } from '../../../test/support/gateways/command.ts';
import { createDirectory } from '../../../test/support/gateways/configuration.ts';
import { bring, channelsOfNewApi, checkNewApi } from '../../../test/support/gateways/importing.ts';
import { makeSqlite } from '../../../test/support/stores/foreign-database.ts';

async function sqlite(t: TestContext, statements: string): Promise<{ cwd: string; path: string }> {
  const cwd = await createDirectory(t, {});
  const path = join(cwd, 'their.db');
  makeSqlite(path, statements);
  return { cwd, path };
}

/** SQLite has no E'', and accepts line ends in strings. */
const forSqlite = (statements: string): string =>
  statements.replaceAll(/E'([^']*)'/g, (_, text: string) => `'${text.replaceAll('\\n', '\n')}'`);

test('channels and tokens of new-api are read from its SQLite file, opened read-only', async (t) => {
  const { cwd, path } = await sqlite(t, forSqlite(channelsOfNewApi));
  chmodSync(path, 0o400);
  const before = statSync(path).mtimeMs;
  checkNewApi(await bring(t, 'new-api', 'their.db', {}, cwd));
  assert.equal(statSync(path).mtimeMs, before);
});

test("one-api's SQLite database is imported with the channel types of one-api, which differ from new-api's", async (t) => {
  const { cwd } = await sqlite(
    t,
    `create table channels (id integer primary key, type integer, key text, status integer default 1, name text, models text, config text);
     create table tokens (id integer primary key, key char(48), status integer default 1, name text, expired_time bigint default -1,
       remain_quota bigint default 0, unlimited_quota numeric default false, models text, subnet text default '');
     insert into channels (type, key, name, models) values (35, 'sk-written-out', 'c', 'rerank-v3.5');
     insert into tokens (key, name, unlimited_quota, models, subnet) values ('k-written-out', 'a', true, 'rerank-v3.5', '10.1.0.0/16');`,
  );
  const { config } = await bring(t, 'one-api', 'sqlite:their.db', {}, cwd);
  assert.equal(config.upstreams[0].family, 'cohere');
  assert.deepEqual(config.keys, [
    {
      id: 'a',
      secret_sha256: hash('sha256', 'sk-k-written-out'),
      models: ['rerank-v3.5'],
      addresses: ['10.1.0.0/16'],
    },
  ]);
});

test("Bifrost's config.db is imported like its config.json, with its virtual keys", async (t) => {
  const { cwd } = await sqlite(
    t,
    `create table config_providers (id integer primary key, name varchar(50), network_config_json text, concurrency_buffer_json text, custom_provider_config_json text);
     create table config_keys (id integer primary key, name text, provider_id integer, provider text, value text, models_json text, weight real,
       enabled numeric default true, azure_endpoint text, azure_api_version text, aliases_json text, encryption_status varchar(20) default 'plain_text');
     create table governance_virtual_keys (id text primary key, name text, value text, is_active numeric default true, rate_limit_id text,
       encryption_status varchar(20) default 'plain_text', value_hash varchar(64));
     create table governance_virtual_key_provider_configs (id integer primary key, virtual_key_id text, provider text, weight real, allowed_models text);
     create table governance_budgets (id text primary key, virtual_key_id text, max_limit real, reset_duration text, current_usage real);
     create table governance_rate_limits (id text primary key, token_max_limit integer, token_reset_duration text, request_max_limit integer, request_reset_duration text);
     insert into config_providers values (1, 'openai', '{"default_request_timeout_in_seconds":30}', '{"concurrency":5}', ''), (2, 'azure', '', '', '');
     insert into config_keys (name, provider_id, value, models_json, weight) values ('a', 1, 'env.OPENAI_API_KEY', '["*"]', 1);
     insert into config_keys (name, provider_id, value, models_json, weight, enabled) values ('b', 1, 'sk-b-written-out', '["*"]', 1, false);
     insert into config_keys (name, provider_id, value, models_json, azure_endpoint, azure_api_version, aliases_json)
       values ('z', 2, 'sk-z-written-out', '["m"]', 'https://a.openai.azure.com/', '2024-10-21', '{"m":"deployed"}');
     insert into governance_virtual_keys (id, name, value, rate_limit_id) values ('v1', 'Search', 'sk-bf-written-out', 'r1');
     insert into governance_virtual_keys (id, name, value, encryption_status, value_hash) values ('v2', 'closed', 'xxxx', 'encrypted', '${'a'.repeat(64)}');
     insert into governance_virtual_key_provider_configs values (1, 'v1', 'openai', 1, '["*"]');
     insert into governance_budgets values ('b1', 'v1', 25, '1M', 3);
     insert into governance_rate_limits values ('r1', 1000, '1m', 50, '2h');`,
  );
  const { config, names, notes } = await bring(t, 'bifrost', 'their.db', {}, cwd);
  assert.deepEqual(names, ['AZURE_API_KEY', 'OPENAI_API_KEY']);
  const models = config.models.map(({ id, targets }: { id: string; targets: unknown }) => ({ id, targets }));
  assert.deepEqual(models, [
    { id: 'openai/*', targets: [{ upstream: 'openai', model: '*' }] },
    { id: 'azure/m', targets: [{ upstream: 'azure', model: 'deployed' }] },
  ]);
  assert.deepEqual(config.keys, [
    {
      id: 'Search',
      secret_sha256: hash('sha256', 'sk-bf-written-out'),
      models: ['openai/*'],
      limits: { tokens_per_minute: 1000 },
      budgets: [{ every: 'month', amount: 25 }],
    },
    { id: 'closed', secret_sha256: 'a'.repeat(64) },
  ]);
  assert.match(notes.join('\n'), /providers\.openai\.keys\[1\] {2}"b" is switched off/);
  assert.match(notes.join('\n'), /there is no limit of 2h here/);
});

test('an unrelated database, a MySQL or Portkey database, and a missing file are each refused with the reason', async (t) => {
  const { cwd } = await sqlite(t, 'create table other (id integer)');
  const asked = (format: string, database: string) => bring(t, format, database, {}, cwd);
  await assert.rejects(asked('one-api', 'their.db'), userFault(/their\.db has no table channels: is it the database/));
  await assert.rejects(asked('portkey', 'their.db'), userFault(/no database of portkey is read; give a file/));
  await assert.rejects(
    asked('one-api', 'mysql://u:p-written-out@db/one'),
    userFault(/MySQL is not read: write its tables as JSON/),
  );
  await assert.rejects(
    asked('one-api', 'sqlite:missing.db'),
    userFault(/^missing\.db cannot be read \(unable to open/),
  );
});

test('MySQL tables exported as JSON are imported with their tokens', async (t) => {
  const channels = [{ type: 1, key: 'sk-x-written-out', name: 'm', models: 'gpt-4o' }];
  const tokens = [{ key: 'k-written-out', name: 'a', unlimited_quota: 1, expired_time: -1 }];
  const cwd = await createDirectory(t, { 'tables.json': JSON.stringify({ channels, tokens }) });
  const { config } = await bring(t, 'one-api', 'tables.json', {}, cwd);
  assert.deepEqual(config.keys, [{ id: 'a', secret_sha256: hash('sha256', 'sk-k-written-out') }]);
});
