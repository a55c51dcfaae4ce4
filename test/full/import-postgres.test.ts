/** `postern import` from a PostgreSQL, as LiteLLM and new-api lay it out: read, and nothing written to it. */

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { userFault } from '../support/gateways/command.ts';
import { bring, channelsOfNewApi, checkNewApi } from '../support/gateways/importing.ts';
import { usePostgres, whyNoPostgres } from '../support/servers/postgres.ts';
import { makePostgres } from '../support/stores/foreign-database.ts';

/** As LiteLLM's Prisma schema has them, of the columns that matter here. */
const litellm = `
create table "LiteLLM_ProxyModelTable" (model_id text primary key, model_name text not null, litellm_params jsonb not null, model_info jsonb,
  blocked boolean not null default false, created_at timestamp not null default now(), created_by text not null default 'x');
create table "LiteLLM_BudgetTable" (budget_id text primary key, max_budget double precision, soft_budget double precision, max_parallel_requests integer,
  tpm_limit bigint, rpm_limit bigint, budget_duration text, budget_reset_at timestamp);
create table "LiteLLM_TeamTable" (team_id text primary key, team_alias text, max_budget double precision, spend double precision not null default 0,
  models text[], tpm_limit bigint, rpm_limit bigint, max_parallel_requests integer, budget_duration text, blocked boolean not null default false,
  metadata jsonb not null default '{}');
create table "LiteLLM_VerificationToken" (token text primary key, key_name text, key_alias text, spend double precision not null default 0, expires timestamp,
  models text[], aliases jsonb not null default '{}', user_id text, team_id text, max_parallel_requests integer, metadata jsonb not null default '{}',
  blocked boolean, tpm_limit bigint, rpm_limit bigint, max_budget double precision, budget_duration text, budget_id text, auto_rotate boolean default false);
insert into "LiteLLM_BudgetTable" (budget_id, max_budget, budget_duration, rpm_limit) values ('b', 10, '30d', 60);
insert into "LiteLLM_TeamTable" (team_id, team_alias, models, max_budget, budget_duration, tpm_limit) values ('t', 'Search & rank', '{"rerank"}', 100, '7d', 9000);
insert into "LiteLLM_TeamTable" (team_id, team_alias, blocked) values ('u', 'stopped', true);
insert into "LiteLLM_VerificationToken" (token, key_alias, models, team_id, budget_id, max_parallel_requests)
  values ('${hash('sha256', 'sk-team-written-out')}', 'indexer', '{"all-team-models"}', 't', 'b', 4);
insert into "LiteLLM_VerificationToken" (token, models, expires, max_budget, budget_duration, aliases)
  values ('${hash('sha256', 'sk-own-written-out')}', '{"embed"}', '2100-01-01', 5, '2h', '{"a":"b"}');
insert into "LiteLLM_VerificationToken" (token, key_alias, models, blocked) values ('${'1'.repeat(64)}', 'no', '{}', true);
insert into "LiteLLM_VerificationToken" (token, key_alias, models, team_id) values ('${'2'.repeat(64)}', 'of-the-stopped', '{}', 'u');
insert into "LiteLLM_VerificationToken" (token, key_alias, models, expires) values ('${'3'.repeat(64)}', 'late', '{}', '2020-01-01');
`;
const salt = 'sk-salt-of-a-test';
/** As LiteLLM closes them with that salt: by version 3, version 2, and PyNaCl. */
const closed = {
  'openai/text-embedding-3-small':
    'v3:gcm:AAECAwQFBgcICQoL-_xqzi5J1Bofl1Cgag8tz07HxKZetwRRS4eYJrSrM2XZYlSn5vAOKley9mZN',
  'sk-model-written-out-in-the-file':
    'v2:gcm:AAECAwQFBgcICQoL9mmX1X9_2JmO3RGMNj39Rd5Sd5miJpdUMwJEgehRBJv7Hoi3kCRrKh8QmYAuEwXW',
  'cohere/rerank-v3.5': 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXC0gp6dMN8oC0sPX6-JeWwraZU4e79voQ_94Xy2wcnop-rA==',
} as const;

function modelRows(): string {
  const embed = {
    model: closed['openai/text-embedding-3-small'],
    api_key: closed['sk-model-written-out-in-the-file'],
    rpm: 5,
  };
  const rerank = { model: closed['cohere/rerank-v3.5'], api_key: 'os.environ/COHERE_API_KEY' };
  const insert = `insert into "LiteLLM_ProxyModelTable" (model_id, model_name, litellm_params, model_info, blocked) values `;
  return [
    `${insert} ('1', 'embed', '${JSON.stringify(embed)}', '{"mode":"embedding","id":"1"}', false);`,
    `${insert} ('2', 'rerank', '${JSON.stringify(rerank)}', '{"mode":"rerank"}', false);`,
    `${insert} ('3', 'off', '${JSON.stringify(rerank)}', null, true);`,
  ].join('\n');
}

const server = usePostgres();

async function database(statements: string): Promise<string> {
  const url = await server().createDatabase();
  await makePostgres(url, statements);
  return url;
}

test('LiteLLM: models are decrypted with its salt, teams become projects, and keys keep their digests', async (t) => {
  const url = await database(litellm + modelRows());
  // What has no zone there is UTC, wherever this machine stands.
  const { TZ } = process.env;
  process.env.TZ = 'America/New_York';
  t.after(() => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });
  const { config, names, notes } = await bring(t, 'litellm', url, { LITELLM_SALT_KEY: salt });
  assert.deepEqual(names, ['COHERE_API_KEY', 'OPENAI_API_KEY']);
  assert.deepEqual(config.models, [
    { id: 'embed', operations: ['embeddings'], targets: [{ upstream: 'openai', model: 'text-embedding-3-small' }] },
    { id: 'rerank', operations: ['rerank'], targets: [{ upstream: 'cohere', model: 'rerank-v3.5' }] },
  ]);
  assert.deepEqual(config.projects[0], {
    id: 'Search-rank',
    name: 'Search & rank',
    limits: { tokens_per_minute: 9000 },
    budgets: [{ every: 'week', amount: 100 }],
  });
  assert.deepEqual(
    config.keys.toSorted((one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1)),
    [
      {
        id: 'indexer',
        secret_sha256: hash('sha256', 'sk-team-written-out'),
        models: ['rerank'],
        project: 'Search-rank',
        limits: { requests_per_minute: 60, concurrency: 4 },
        budgets: [{ every: 'month', amount: 10 }],
      },
      {
        id: `key-${hash('sha256', 'sk-own-written-out').slice(0, 8)}`,
        secret_sha256: hash('sha256', 'sk-own-written-out'),
        models: ['embed'],
        expires: '2100-01-01T00:00:00.000Z',
      },
    ],
  );
  const said = notes.join('\n');
  for (const note of [
    'is blocked: left out',
    '"of-the-stopped" is blocked',
    '"late" has expired',
    'aliases  has no counterpart',
    'no budget of 2h here',
  ]) {
    assert.ok(said.includes(note), `${note}\n${said}`);
  }
});

test('LiteLLM: without its salt only keys are imported, and a wrong salt imports no model', {
  skip: whyNoPostgres,
}, async (t) => {
  const url = await database(litellm + modelRows());
  const { config, notes } = await bring(t, 'litellm', url);
  assert.deepEqual([config.models, config.keys.length], [[], 2]);
  assert.match(
    notes.join('\n'),
    /"embed" is encrypted: set LITELLM_SALT_KEY .* response of GET \/model\/info; left out/,
  );
  await assert.rejects(
    bring(t, 'litellm', url, { LITELLM_MASTER_KEY: 'sk-another' }),
    userFault(/encrypted with another key/),
  );
});

test('channels and tokens of new-api are read from its PostgreSQL database', { skip: whyNoPostgres }, async (t) => {
  checkNewApi(await bring(t, 'new-api', await database(channelsOfNewApi)));
});

test('an unreachable server and a wrong password are reported without the password', {
  skip: whyNoPostgres,
}, async (t) => {
  const wrong = new URL(server().url());
  wrong.password = 'not-written-out';
  await assert.rejects(
    bring(t, 'litellm', wrong.href),
    userFault(/^postgres:\/\/127\.0\.0\.1:\d+\/postgres cannot be read \((?!.*written-out)/),
  );
  await assert.rejects(
    bring(t, 'litellm', 'postgres://u:written-out@127.0.0.1:1/x'),
    userFault(/cannot be read \((?!.*written-out)/),
  );
});
