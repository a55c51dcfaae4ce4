/** Databases of other gateways in their own layout, imported by `postern import`. */

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { parse } from 'yaml';
import { check } from '../../../src/cli/check/check.ts';
import { toConfigSources } from '../../../src/cli/command.ts';
import { importCommand } from '../../../src/cli/import/import.ts';
import { families } from '../../../src/families/index.ts';
import { createDirectory } from './configuration.ts';

export async function bring(
  t: TestContext,
  format: string,
  database: string,
  env: Record<string, string> = {},
  cwd?: string,
) {
  const directory = cwd ?? (await createDirectory(t, {}));
  const lines: string[] = [];
  const stdout = (line: string): void => void lines.push(line);
  const context = { configPath: undefined, set: [], cwd: directory, families, stdout, stderr: stdout };
  const code = await importCommand.run({ ...context, env, values: {}, positionals: [format, database] });
  assert.equal(code, 0, lines.join('\n'));
  const written = await readFile(join(directory, 'postern.yaml'), 'utf8');
  for (const said of [written, lines.join('\n')]) assert.doesNotMatch(said, /written-out|Own-pass|%2Fword/);
  const [, named = ''] = /^To be set in the environment: (.+)$/m.exec(lines.join('\n')) ?? [];
  const names = named.split(', ').filter(Boolean);
  const faults: string[] = [];
  const checked = await check.run({
    ...context,
    ...toConfigSources({}),
    env: Object.fromEntries(names.map((name, index) => [name, `a-credential-of-its-own-${index}`])),
    values: {},
    positionals: [],
    stdout: (line) => void faults.push(line),
  });
  assert.equal(checked, 0, `${faults.join('\n')}\n${written}`);
  return { names, notes: lines.slice(names.length > 0 ? 2 : 1), config: parse(written) };
}

/** As GORM makes them for SQLite and PostgreSQL alike, of the columns that matter here. */
export const channelsOfNewApi = `
create table channels (id integer primary key, type integer default 0, key text not null, status integer default 1, name text,
  weight integer default 0, created_time bigint, base_url text default '', other text, balance real, models text,
  "group" varchar(64) default 'default', used_quota bigint default 0, model_mapping text, priority bigint default 0, auto_ban integer default 1,
  tag text, setting text, settings text, channel_info json);
create table tokens (id integer primary key, user_id integer, key varchar(128), status integer default 1, name text, created_time bigint,
  accessed_time bigint, expired_time bigint default -1, remain_quota integer default 0, unlimited_quota boolean, model_limits_enabled boolean,
  model_limits text, allow_ips text default '', used_quota integer default 0, "group" text default '', deleted_at timestamp);
insert into channels (id, type, key, name, models, model_mapping, weight, priority, channel_info)
  values (1, 1, 'sk-one-written-out', 'Main', 'gpt-4o,text-embedding-3-small', '{"gpt-4o":"gpt-4o-2024-11-20"}', 5, 10, '{"is_multi_key":false}');
insert into channels (id, type, key, name, base_url, models) values (2, 34, 'sk-two-written-out', 'co', '', 'rerank-v3.5');
insert into tokens (id, key, name, expired_time, remain_quota, unlimited_quota, model_limits_enabled, model_limits, allow_ips, "group") values
  (1, 'AbC-written-out', 'Search team', -1, 250000, false, true, 'text-embedding-3-small,rerank-v3.5', E'10.0.0.0/8\\n192.0.2.7', 'vip'),
  (2, 'dEf-written-out', 'batch', 4102444800, 0, true, false, '', '', ''),
  (3, 'gHi-written-out', 'batch', -1, 0, false, false, '', '', ''),
  (4, 'jKl-written-out', 'old', 1000000000, 0, true, false, '', '', '');
insert into tokens (id, key, name, status, unlimited_quota, deleted_at) values (5, 'mNo-written-out', 'off', 2, true, null);
insert into tokens (id, key, name, unlimited_quota, deleted_at) values (6, 'pQr-written-out', 'gone', true, '2026-01-01 00:00:00');
`;

export function checkNewApi({ names, notes, config }: Awaited<ReturnType<typeof bring>>): void {
  assert.deepEqual(names, ['CO_KEY', 'MAIN_KEY']);
  assert.deepEqual(config.models[0].targets, [{ upstream: 'openai', model: 'gpt-4o-2024-11-20', weight: 5 }]);
  assert.deepEqual(config.keys, [
    {
      id: 'Search-team',
      // What clients send has a prefix that the table leaves out.
      secret_sha256: hash('sha256', 'sk-AbC-written-out'),
      models: ['text-embedding-3-small', 'rerank-v3.5'],
      addresses: ['10.0.0.0/8', '192.0.2.7'],
      budgets: [{ every: 'total', amount: 0.5 }],
    },
    { id: 'batch', secret_sha256: hash('sha256', 'sk-dEf-written-out'), expires: '2100-01-01T00:00:00.000Z' },
  ]);
  const said = notes.map((note) => note.replace(/^.*? {2}/, ''));
  assert.deepEqual(
    said.filter((note) => note.startsWith('tokens')),
    [
      'tokens[2]  "batch" has nothing left to spend: left out',
      'tokens[3]  "old" has expired: left out',
      'tokens[4]  "off" is switched off: left out',
      'tokens[5]  "gone" is deleted: left out',
    ],
  );
}
