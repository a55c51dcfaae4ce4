/** What is compared: no proxy, nginx, the bare floor and Postern, each started anew for every row. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Child, type Children, listeningPort } from './children.ts';
import { nginx, startNginxProxy } from './nginx.ts';
import { model, type Payload } from './payloads.ts';

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

export type SubjectName = 'direct' | 'nginx' | 'bare' | 'postern';

export interface Subject {
  readonly name: SubjectName;
  start(setting: Setting): Promise<Running>;
}

export const benchKey = 'bench-key-with-enough-characters';

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

/** As users run it: the launcher, a file, a key, the access log going to a file. */
const postern: Subject = {
  name: 'postern',
  async start({ children, directory, payload, upstreamPort, profileDirectory }) {
    const home = join(directory, 'postern');
    mkdirSync(home, { recursive: true });
    const configFile = join(home, 'postern.json');
    writeFileSync(configFile, JSON.stringify(toConfig(payload, upstreamPort)));
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
  },
};

function toConfig({ name, operation }: Payload, upstreamPort: number): unknown {
  return {
    server: { port: 0 },
    store: 'sqlite:postern.db',
    upstreams: [
      {
        id: 'bench',
        family: 'openai',
        base_url: `http://127.0.0.1:${upstreamPort}/${name}/v1`,
        api_key: 'upstream-key-with-enough-characters',
      },
    ],
    models: [{ id: model, operations: [operation], targets: [{ upstream: 'bench', model }] }],
    keys: [{ id: 'bench', secret: benchKey, models: ['*'] }],
  };
}

/** Those that can run here, in the order of their turns. */
export function availableSubjects(): Subject[] {
  const subjects = [direct];
  if (nginx !== undefined) subjects.push(nginxProxy);
  subjects.push(bare);
  if (existsSync(gatewayMain)) subjects.push(postern);
  return subjects;
}
