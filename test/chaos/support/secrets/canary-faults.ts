/** Faults around a gateway with secrets: invalid configurations, an invalid stored element, and an unreachable store or Redis. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { openStore } from '../../../../src/store/open-store.ts';
import type { GatewayProcess } from '../../../support/gateways/gateway-process.ts';
import { runPostern } from '../../../support/gateways/postern-command.ts';
import type { OwnRedisServer } from '../../../support/servers/redis.ts';
import { until } from '../../../support/time/until.ts';
import type { ChaosRig } from '../../promise.ts';
import type { Canaries, Trace } from './canaries.ts';
import { type Scene, toFaulty } from './canary-scene.ts';
import type { StoreLocation } from './store-locations.ts';

export interface Size {
  readonly models: readonly string[];
  /** Configurations that a running gateway is given. */
  readonly faults: number;
  /** Of these, started on as well. */
  readonly starts: number;
}

/** Three kinds, because they are found in different locations. */
export interface Marks {
  /** Keys, credentials, passwords: nowhere. */
  readonly secrets: Canaries;
  /** What is asked and answered: with the client and the upstream alone. */
  readonly texts: Canaries;
  /** Secrets that were put into the database by hand, in the open. */
  readonly planted: Canaries;
}

/** Everything to search, by the people who may read it. */
export interface Found {
  readonly logs: Trace[];
  readonly commands: Trace[];
  readonly answers: Trace[];
  readonly stores: Trace[];
}

/** A gateway and its surroundings, and what is known of them. */
export interface Story {
  readonly rig: ChaosRig;
  readonly size: Size;
  readonly location: StoreLocation;
  readonly scene: Scene;
  readonly marks: Marks;
  readonly random: () => number;
  readonly found: Found;
  run(...args: string[]): Promise<string>;
  readonly redis: OwnRedisServer | undefined;
  readonly redisUrl: string;
}

/** Each fault as a running gateway sees it, as `check` does, and some as a start does. */
export async function breakConfiguration(
  { size, scene, marks, random, found, run }: Story,
  gateway: GatewayProcess,
): Promise<void> {
  const { faults, starts } = size;
  const shuffled = toFaulty(scene, marks.secrets)
    .map((one) => ({ one, at: random() }))
    .sort((a, b) => a.at - b.at);
  for (const [
    index,
    {
      one: [name, text],
    },
  ] of shuffled.slice(0, faults).entries()) {
    // Both extensions: one is read as JSON, the other as YAML.
    const file = join(scene.directory, `faulty.${text.startsWith('{') ? 'json' : 'yaml'}`);
    await writeFile(file, text);
    await run('check', '--config', file);
    await run('check', '--json', '--config', file);
    await run('keys', 'list', '--config', file);
    await reload(gateway, text, 'configuration not reloaded', name);
    if (index >= starts) continue;
    const { stdout, stderr } = await runPostern(['serve', '--config', file], {
      cwd: scene.directory,
      env: { ...scene.env },
    });
    found.logs.push({ location: `a start with ${name}`, bytes: Buffer.from(stdout + stderr) });
  }
  await reload(gateway, JSON.stringify(scene.config), 'configuration reloaded');
}

export async function breakSurroundings(story: Story, gateway: GatewayProcess): Promise<void> {
  const { location, scene, marks, run, redis } = story;
  const { planted, secrets } = marks;
  const store = await openStore(location.url, { cwd: scene.directory });
  try {
    const said = refusals(gateway);
    const secret = planted.make('planted', '"\\');
    const document = {
      ...{ id: 'planted', family: 'openai', base_url: `http://user:${secret}@host/?${secret}`, api_key: `${secret}\n` },
      ...{
        headers: { 'x-a': secret, connection: secret },
        health_check: { path: `/health?${secret}` },
        credentials: [{ api_key: secret }],
      },
    };
    await store.resources.put('upstream', 'planted', document, { actor: 'someone' });
    await until(() => refusals(gateway) > said, { what: 'the element is refused', everyMs: 30 });
    for (const args of ['list', 'show upstream planted', 'list --json', 'show upstream planted --json']) {
      await run('resources', ...args.split(' '));
    }
    await run('models');
    await run('keys', 'list');
    await run('secrets', 'status');
    await run('secrets', 'rotate');
    await store.resources.remove('upstream', 'planted', { actor: 'someone' });
  } finally {
    await store.close();
  }
  const url = new URL(location.url);
  if (url.password !== '') {
    url.password = secrets.make('wrong-store-password');
    const file = join(scene.directory, 'wrong.json');
    await writeFile(file, JSON.stringify({ ...scene.config, store: url.href }));
    for (const args of ['keys list', 'models', 'migrate --check', 'usage'])
      await run(...args.split(' '), '--config', file);
  }
  await redis?.restart({ args: ['--requirepass', secrets.make('other-redis-password')] });
  await location.server?.kill();
  for (let turn = 0; turn < 5; turn += 1) {
    await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': secrets.make('key-without-store') } }).then(
      (response) => response.text(),
    );
    await wait(200);
  }
  await location.server?.start();
}

const refusals = (gateway: GatewayProcess): number =>
  gateway.log().filter(({ msg }) => String(msg).startsWith('configuration not reloaded')).length;

/** Waits for the log line about it. */
export async function reload(gateway: GatewayProcess, text: string, msg: string, name = 'a good one'): Promise<void> {
  const count = (): number => gateway.log().filter((line) => String(line.msg).startsWith(msg)).length;
  const before = count();
  await writeFile(gateway.configFile, text);
  gateway.signal('SIGHUP');
  await until(() => count() > before, { what: `${msg}: ${name}`, everyMs: 30 }).catch((error: unknown) => {
    throw new Error(`${error}; the log ends: ${gateway.stdout().slice(-2_000)}`);
  });
}
