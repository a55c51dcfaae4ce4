/** `postern import` from the database of another gateway, laid out as that gateway does. */

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { parse } from 'yaml';
import { importCommand } from '../../src/cli/import/import.ts';
import { families } from '../../src/families/index.ts';
import { userFault } from '../support/gateways/command.ts';
import { createDirectory } from '../support/gateways/configuration.ts';

/** Whatever is one of these is nowhere in what comes of it. */
const secret = (name: string): string => `sk-${name}-written-out-in-the-file`;

async function bring(cwd: string, format: string) {
  const notes: string[] = [];
  const say = (line: string): void => void notes.push(line);
  const context = { configPath: undefined, set: [], env: {}, cwd, families, stdout: say, stderr: say, values: {} };
  assert.equal(await importCommand.run({ ...context, positionals: [format, 'theirs.db'] }), 0);
  const written = await readFile(join(cwd, 'postern.yaml'), 'utf8');
  for (const said of [written, notes.join('\n')]) assert.doesNotMatch(said, /written-out-in-the-file/);
  return { config: parse(written), notes };
}

const digestOf = (key: string): string => hash('sha256', key);

test('a database of one-api or new-api has channels, and the keys that clients go on with', async (t) => {
  for (const [format, type, models] of [
    ['one-api', 35, "models TEXT DEFAULT ''"],
    ['new-api', 34, "model_limits_enabled NUMERIC, model_limits TEXT DEFAULT ''"],
  ] as const) {
    const cwd = await createDirectory(t, {});
    const database = new DatabaseSync(join(cwd, 'theirs.db'));
    database.exec(`CREATE TABLE channels (id INTEGER PRIMARY KEY, type INTEGER, key TEXT, status INTEGER DEFAULT 1, name TEXT, weight INTEGER,
      created_time INTEGER, test_time INTEGER, response_time INTEGER, base_url TEXT, other TEXT, balance REAL, models TEXT, "group" TEXT DEFAULT 'default',
      used_quota INTEGER, model_mapping TEXT, priority INTEGER)`);
    database.exec(`CREATE TABLE tokens (id INTEGER PRIMARY KEY, user_id INTEGER, key TEXT, status INTEGER DEFAULT 1, name TEXT, created_time INTEGER,
      accessed_time INTEGER, expired_time INTEGER DEFAULT -1, remain_quota INTEGER, unlimited_quota NUMERIC, used_quota INTEGER, ${models})`);
    database
      .prepare('INSERT INTO channels (type, key, name, models, priority, weight) VALUES (?, ?, ?, ?, 0, 0)')
      .run(type, secret('channel'), 'cohere', 'embed-v4.0,rerank-v3.5');
    const column = format === 'one-api' ? 'models' : 'model_limits';
    const insert = database.prepare(
      `INSERT INTO tokens (key, name, status, expired_time, unlimited_quota, remain_quota, ${column}) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
    insert.run(secret('all'), 'of all', 1, -1, 1, 0, '');
    insert.run(secret('some'), 'of some', 1, 1_900_000_000, 0, 500, 'embed-v4.0,gone');
    insert.run(secret('none'), 'of none', 1, -1, 1, 0, 'gone');
    insert.run(secret('off'), 'off', 2, -1, 1, 0, '');
    if (format === 'new-api') database.exec(`UPDATE tokens SET model_limits_enabled = model_limits <> ''`);
    database.close();
    const { config, notes } = await bring(cwd, format);
    assert.deepEqual(config.upstreams[0].family, 'cohere');
    assert.deepEqual(config.keys, [
      { id: 'of-all', secret_sha256: digestOf(`sk-${secret('all')}`) },
      {
        id: 'of-some',
        secret_sha256: digestOf(`sk-${secret('some')}`),
        models: ['embed-v4.0'],
        expires: '2030-03-17T17:46:40.000Z',
      },
    ]);
    assert.ok(
      notes.some((note) => note.includes('"of none" may use no model that there is: left out')),
      notes.join('\n'),
    );
    assert.ok(notes.some((note) => note.includes('"off" is switched off')));
    assert.ok(notes.some((note) => note.startsWith('theirs.db  tokens[1].remain_quota')));
  }
});

test('a database that is another is a fault that says what was looked for', async (t) => {
  const cwd = await createDirectory(t, {});
  new DatabaseSync(join(cwd, 'theirs.db')).exec('CREATE TABLE other (id INTEGER)');
  await assert.rejects(bring(cwd, 'new-api'), userFault(/no table channels .*channels, tokens/));
  await assert.rejects(bring(cwd, 'portkey'), userFault(/give its file/));
});
