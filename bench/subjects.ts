/**
 * The subjects of the comparison: no proxy, nginx, two JavaScript proxies, and Postern in several configurations. Each is started anew for every
 * row.
 */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { localhostCertificate } from '../test/support/upstreams/localhost-certificate.ts';
import { type Child, type Children, listeningPort } from './children.ts';
import { envoy, startEnvoyProxy } from './envoy.ts';
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
  /** Options for the runtime of the subject, beside those of its own. */
  readonly nodeOptions?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Running {
  readonly port: number;
  readonly path: string;
  /** The process whose CPU time and memory count; none without a proxy. */
  readonly child: Child | undefined;
}

export type SubjectName =
  | 'direct'
  | 'nginx'
  | 'envoy'
  | 'raw'
  | 'bare'
  | 'postern'
  | 'unscreened'
  | 'watched'
  | 'capped'
  | 'shared'
  | 'sampled'
  | 'remembering'
  | 'traced';

export interface Subject {
  readonly name: SubjectName;
  /** Whether it takes `nodeOptions`. */
  readonly isJavaScript: boolean;
  start(setting: Setting): Promise<Running>;
}

/** Clients of the gateway, used in turn. */
export const benchKeys: readonly string[] = Array.from(
  { length: 100 },
  (_, index) => `bench-key-with-enough-characters-${String(index).padStart(3, '0')}`,
);
/** As long as OpenAI's are, and no placeholder. */
const upstreamKey = 'sk-Qz7xVw3kJp9mHt2cRb6nXy8dFg4sLe5vTu1aWo0iKj7hGf3q';

/** The flags of `bin/postern`. */
const runtimeFlags = ['--max-semi-space-size=32', '--disable-warning=ExperimentalWarning'];
const rawProxy = fileURLToPath(new URL('raw-proxy.ts', import.meta.url));
const bareProxy = fileURLToPath(new URL('bare-proxy.ts', import.meta.url));
const collectorScript = fileURLToPath(new URL('collector.ts', import.meta.url));
const launcher = fileURLToPath(new URL('../bin/postern', import.meta.url));
const gatewayMain = fileURLToPath(new URL('../src/main.ts', import.meta.url));

const direct: Subject = {
  name: 'direct',
  isJavaScript: false,
  async start({ payload, upstreamPort }) {
    return { port: upstreamPort, path: `/${payload.name}${payload.path}`, child: undefined };
  },
};

const nginxProxy: Subject = {
  name: 'nginx',
  isJavaScript: false,
  async start({ children, directory, payload, upstreamPort }) {
    const at = join(directory, 'nginx');
    const server = await startNginxProxy(children, at, upstreamPort, `/${payload.name}`, payload.overTls === true);
    return { port: server.port, path: payload.path, child: server.child };
  },
};

const envoyProxy: Subject = {
  name: 'envoy',
  isJavaScript: false,
  async start({ children, directory, payload, upstreamPort }) {
    const at = join(directory, 'envoy');
    const server = await startEnvoyProxy(children, at, upstreamPort, `/${payload.name}`, payload.overTls === true);
    return { port: server.port, path: payload.path, child: server.child };
  },
};

const raw = createScriptSubject('raw', rawProxy, ({ upstreamPort }) => String(upstreamPort));
const bare = createScriptSubject('bare', bareProxy, ({ payload, upstreamPort }) => toOrigin(payload, upstreamPort));

const toOrigin = ({ overTls }: Payload, port: number): string =>
  overTls === true ? `https://localhost:${port}` : `http://127.0.0.1:${port}`;

/** A proxy in one file, with its upstream's port and the prefix of every path there as arguments. */
function createScriptSubject(name: 'raw' | 'bare', script: string, toUpstream: (setting: Setting) => string): Subject {
  return {
    name,
    isJavaScript: true,
    async start(setting) {
      const { children, runtime, directory, payload, nodeOptions = [], env = {} } = setting;
      const child = children.start({
        command: runtime,
        args: [...runtimeFlags, ...nodeOptions, script, toUpstream(setting), `/${payload.name}`],
        outputFile: join(directory, `${name}.log`),
        core: 'subject',
        env,
      });
      return { port: await listeningPort(child), path: payload.path, child };
    },
  };
}

/** As users run it: the launcher, a file, keys, ledger and metrics, the access log going to a file. */
const postern = createGatewaySubject('postern', {});

/** With successes left alone by the search for the upstream's credential. */
const unscreened = createGatewaySubject('unscreened', { screen: 'errors' });

/** While the console's live view is open. */
const watched: Subject = {
  name: 'watched',
  isJavaScript: true,
  async start(setting) {
    const running = await startPostern(setting, 'watched', {});
    if (running.child !== undefined) await watchConsole(running.child);
    return running;
  },
};

/** With limits on keys, project and model, and budgets on keys and project. */
const capped = createGatewaySubject('capped', { isCapped: true });

/** The same with the limits counted in Redis. */
const shared: Subject = {
  name: 'shared',
  isJavaScript: true,
  async start(setting) {
    const redis = await startRedis(setting.children, join(setting.directory, 'redis'));
    return startPostern(setting, 'shared', { isCapped: true, redis });
  },
};

/** With what was said of items remembered: of `embed-1-known` all but the first. */
const remembering = createGatewaySubject('remembering', { isRemembering: true });

/** With one in a hundred requests exported to a collector of traces. */
const sampled = createTracedSubject('sampled', 0.01);

/** While every request is. */
const traced = createTracedSubject('traced', 1);

function createTracedSubject(name: SubjectName, sample: number): Subject {
  return {
    name,
    isJavaScript: true,
    async start(setting) {
      const collector = setting.children.start({
        command: setting.runtime,
        args: [collectorScript],
        outputFile: join(setting.directory, `${name}-collector.log`),
        core: 'load',
      });
      const otel = { endpoint: `http://127.0.0.1:${await listeningPort(collector)}`, sample };
      return startPostern(setting, name, { otel });
    },
  };
}

function createGatewaySubject(name: SubjectName, extras: Extras): Subject {
  return { name, isJavaScript: true, start: (setting) => startPostern(setting, name, extras) };
}

interface Extras {
  readonly isCapped?: boolean;
  readonly redis?: string;
  readonly screen?: 'all' | 'errors';
  readonly isCrowded?: boolean;
  readonly isRemembering?: boolean;
  readonly otel?: Readonly<Record<string, unknown>>;
}

async function startPostern(
  { children, directory, payload, upstreamPort, nodeOptions = [], env = {} }: Setting,
  name: string,
  extras: Extras,
): Promise<Running> {
  const home = join(directory, name);
  mkdirSync(home, { recursive: true });
  const configFile = join(home, 'postern.json');
  if (payload.overTls === true) writeFileSync(join(home, certificateFile), localhostCertificate);
  writeFileSync(configFile, JSON.stringify(toConfig(payload, upstreamPort, extras)));
  const child = children.start({
    command: launcher,
    args: ['serve', '--config', configFile],
    outputFile: join(home, 'access.log'),
    core: 'subject',
    cwd: home,
    env: { ...env, ...(nodeOptions.length === 0 ? {} : { NODE_OPTIONS: nodeOptions.join(' ') }) },
  });
  return { port: await listeningPort(child), path: payload.path, child };
}

/** Room and patience for more connections than any of the defaults. */
const crowdedServer = { max_connections: 100_000, timeouts: { headers: '1h', request: '1h', keep_alive: '1h' } };
const crowdedUpstream = { limits: { concurrency: 100_000 }, timeouts: { idle: '1h', total: '1h' } };

/** So wide that nothing is refused; what counts is the counting. */
const rates = { requests_per_minute: 1e9, tokens_per_minute: 1e12, items_per_day: 1e12, concurrency: 1e6 };

/** What the gateway trusts an upstream over TLS by. */
const certificateFile = 'upstream.pem';

export function toConfig(
  payload: Payload,
  upstreamPort: number,
  { isCapped = false, redis, screen = 'all', isCrowded = false, isRemembering = false, otel }: Extras,
): Readonly<Record<string, unknown>> {
  const { name, operation, overTls } = payload;
  const limits = isCapped ? { limits: rates } : {};
  const budgets = isCapped ? { budgets: [{ every: 'month', amount: 1_000_000 }] } : {};
  return {
    server: { port: 0, ...(isCrowded ? crowdedServer : {}) },
    console: { port: 0 },
    store: 'sqlite:postern.db',
    ...(redis === undefined ? {} : { redis }),
    ...(otel === undefined ? {} : { otel }),
    projects: [{ id: 'bench', ...limits, ...budgets }],
    upstreams: [
      {
        id: 'bench',
        family: 'openai',
        base_url: `${toOrigin(payload, upstreamPort)}/${name}/v1`,
        ...(overTls === true && { tls: { ca: certificateFile } }),
        api_key: upstreamKey,
        screen,
        ...(isCrowded ? crowdedUpstream : {}),
      },
    ],
    models: [
      {
        id: model,
        operations: [operation],
        price: { input: 0.02 },
        ...(isRemembering && { cache: { ttl: '1h' } }),
        targets: [{ upstream: 'bench', model }],
        ...limits,
      },
    ],
    keys: benchKeys.map((secret, index) => ({
      id: `bench-${index}`,
      secret,
      models: ['*'],
      project: 'bench',
      ...limits,
      ...budgets,
    })),
  };
}

/** Those that can run here, in the order of their turns. */
export function availableSubjects(): Subject[] {
  const subjects = [direct];
  if (nginx !== undefined) subjects.push(nginxProxy);
  if (envoy !== undefined) subjects.push(envoyProxy);
  subjects.push(raw, bare);
  if (existsSync(gatewayMain)) subjects.push(postern, unscreened, watched, sampled, traced, remembering, capped);
  if (existsSync(gatewayMain) && redisProgram !== undefined) subjects.push(shared);
  return subjects;
}

/** Subjects that take many connections, and report their memory. */
export const crowdedSubjects: readonly Subject[] = [
  raw,
  bare,
  ...(existsSync(gatewayMain) ? [createGatewaySubject('postern', { isCrowded: true })] : []),
];

/** Those of a run that names none: Postern in its other ways is compared when asked for. */
export const usualSubjects: readonly SubjectName[] = ['direct', 'nginx', 'envoy', 'raw', 'bare', 'postern'];
