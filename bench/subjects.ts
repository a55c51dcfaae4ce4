/** What is compared: no proxy, nginx, the bare floor and Postern in several ways, each started anew for every row. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Child, type Children, listeningPort } from './children.ts';
import { nginx, startNginxProxy } from './nginx.ts';
import { model, type Payload } from './payloads.ts';
import { redisProgram, startRedis } from './redis.ts';
import { watchConsole } from './watching.ts';

export interface Setting {
  readonly children: Children;
  readonly runtime: string;
  readonly directory: string;
  readonly payload: Payload;
  readonly upstreamPort: number;
  /** Where to leave a profile; undefined: no profile is taken. */
  readonly profileDirectory?: string;
}

export interface Running {
  readonly port: number;
  readonly path: string;
  /** The process whose CPU time and memory count; none where there is no proxy. */
  readonly child: Child | undefined;
}

export type SubjectName = 'direct' | 'nginx' | 'bare' | 'postern' | 'unscreened' | 'watched' | 'capped' | 'shared';

export interface Subject {
  readonly name: SubjectName;
  start(setting: Setting): Promise<Running>;
}

export const benchKey = 'bench-key-with-enough-characters';
/** As long as OpenAI's are, and no placeholder. */
const upstreamKey = 'sk-Qz7xVw3kJp9mHt2cRb6nXy8dFg4sLe5vTu1aWo0iKj7hGf3q';

/** The flags of `bin/postern`. */
const runtimeFlags = ['--max-semi-space-size=64', '--disable-warning=ExperimentalWarning'];
const bareProxy = fileURLToPath(new URL('bare-proxy.ts', import.meta.url));
const launcher = fileURLToPath(new URL('../bin/postern', import.meta.url));
const gatewayMain = fileURLToPath(new URL('../src/main.ts', import.meta.url));

const direct: Subject = {
  name: 'direct',
  async start({ payload, upstreamPort }) {
    return { port: upstreamPort, path: `/${payload.name}${payload.path}`, child: undefined };
  },
};

const nginxProxy: Subject = {
  name: 'nginx',
  async start({ children, directory, payload, upstreamPort }) {
    const server = await startNginxProxy(children, join(directory, 'nginx'), upstreamPort, `/${payload.name}`);
    return { port: server.port, path: payload.path, child: server.child };
  },
};

const bare: Subject = {
  name: 'bare',
  async start({ children, runtime, directory, payload, upstreamPort }) {
    const child = children.start({
      command: runtime,
      args: [...runtimeFlags, bareProxy, `http://127.0.0.1:${upstreamPort}`, `/${payload.name}`],
      outputFile: join(directory, 'bare.log'),
      core: 'subject',
    });
    return { port: await listeningPort(child), path: payload.path, child };
  },
};

/** As users run it: the launcher, a file, a key, ledger and metrics, the access log going to a file. */
const postern: Subject = { name: 'postern', start: (setting) => startPostern(setting, 'postern', {}) };

/** With successes left alone by the search for the upstream's credential. */
const unscreened: Subject = {
  name: 'unscreened',
  start: (setting) => startPostern(setting, 'unscreened', { screen: 'errors' }),
};

/** While someone looks at the console's live view. */
const watched: Subject = {
  name: 'watched',
  async start(setting) {
    const running = await startPostern(setting, 'watched', {});
    if (running.child !== undefined) await watchConsole(running.child);
    return running;
  },
};

/** With limits on key, project and model, a budget and a price. */
const capped: Subject = { name: 'capped', start: (setting) => startPostern(setting, 'capped', { isCapped: true }) };

/** The same with the limits counted in Redis. */
const shared: Subject = {
  name: 'shared',
  async start(setting) {
    const redis = await startRedis(setting.children, join(setting.directory, 'redis'));
    return startPostern(setting, 'shared', { isCapped: true, redis });
  },
};

interface Extras {
  readonly isCapped?: boolean;
  readonly redis?: string;
  readonly screen?: 'all' | 'errors';
}

async function startPostern(
  { children, directory, payload, upstreamPort, profileDirectory }: Setting,
  name: string,
  extras: Extras,
): Promise<Running> {
  const home = join(directory, name);
  mkdirSync(home, { recursive: true });
  const configFile = join(home, 'postern.json');
  writeFileSync(configFile, JSON.stringify(toConfig(payload, upstreamPort, extras)));
  const profiling =
    profileDirectory === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profileDirectory}` };
  const child = children.start({
    command: launcher,
    args: ['serve', '--config', configFile],
    outputFile: join(home, 'access.log'),
    core: 'subject',
    cwd: home,
    env: profiling,
  });
  return { port: await listeningPort(child), path: payload.path, child };
}

/** So wide that nothing is refused; what counts is the counting. */
const rates = { requests_per_minute: 1e9, tokens_per_minute: 1e12, items_per_day: 1e12, concurrency: 1e6 };

function toConfig(
  { name, operation }: Payload,
  upstreamPort: number,
  { isCapped = false, redis, screen = 'all' }: Extras,
): unknown {
  const limits = isCapped ? { limits: rates } : {};
  return {
    server: { port: 0 },
    console: { port: 0 },
    store: 'sqlite:postern.db',
    ...(redis === undefined ? {} : { redis }),
    projects: [{ id: 'bench', ...limits, ...(isCapped ? { budgets: [{ every: 'month', amount: 1_000_000 }] } : {}) }],
    upstreams: [
      {
        id: 'bench',
        family: 'openai',
        base_url: `http://127.0.0.1:${upstreamPort}/${name}/v1`,
        api_key: upstreamKey,
        screen,
      },
    ],
    models: [
      {
        id: model,
        operations: [operation],
        price: { input: 0.02 },
        targets: [{ upstream: 'bench', model }],
        ...limits,
      },
    ],
    keys: [{ id: 'bench', secret: benchKey, models: ['*'], project: 'bench', ...limits }],
  };
}

/** Those that can run here, in the order of their turns. */
export function availableSubjects(): Subject[] {
  const subjects = [direct];
  if (nginx !== undefined) subjects.push(nginxProxy);
  subjects.push(bare);
  if (existsSync(gatewayMain)) subjects.push(postern, unscreened, watched, capped);
  if (existsSync(gatewayMain) && redisProgram !== undefined) subjects.push(shared);
  return subjects;
}
