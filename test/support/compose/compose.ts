/** `docker compose up` without Docker: each service as a process, in dependency order. */

import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readCompose } from './compose-file.ts';
import { becomesHealthy, type Container, startContainer } from './container.ts';
import { standInOf } from './images.ts';
import { startNetwork } from './network.ts';

interface Scope {
  after(end: () => Promise<void>): unknown;
}

interface Composed {
  /** Services for whose image nothing stands in. */
  readonly notShown: readonly string[];
  container(service: string): Container;
  /** Where a port of the host leads to, as `http://address:port`. */
  published(port: number): string;
  /** A volume's folder on this machine. */
  volume(name: string): string;
  /** A service anew, as `docker compose start`. */
  start(service: string): Promise<void>;
}

export async function composeUp(scope: Scope, file: string): Promise<Composed> {
  const { services, volumes } = readCompose(await readFile(file, 'utf8'));
  const directory = await mkdtemp(join(tmpdir(), 'postern-compose-'));
  const network = await startNetwork();
  const joined = new Map(Object.keys(services).map((name) => [name, network.join(name)]));
  const containers = new Map<string, Container>();
  const notShown: string[] = [];
  const starting = new Map<string, Promise<void>>();
  const volume = (name: string): string => join(directory, 'volumes', name);
  for (const name of Object.keys(volumes)) await mkdir(volume(name), { recursive: true });
  scope.after(async () => {
    await Promise.allSettled(starting.values());
    // Nodes go before what they need.
    for (const container of [...containers.values()].reverse()) await container.kill();
    network.close();
    await rm(directory, { recursive: true, force: true });
  });

  let starts = 0;
  async function start(name: string): Promise<void> {
    const service = services[name];
    const ownPaths = joined.get(name);
    if (service === undefined || ownPaths === undefined) throw new Error(`there is no service ${name}`);
    for (const mount of service.volumes) {
      const [from = ''] = mount.split(':');
      if (!from.startsWith('.') && volumes[from] === undefined) throw new Error(`${name}: there is no volume ${from}`);
    }
    await Promise.all(Object.keys(service.depends_on).map(begun));
    const standIn = await standInOf(service.image);
    if (standIn === undefined) {
      notShown.push(name);
      return;
    }
    for (const [needed, { condition }] of Object.entries(service.depends_on)) {
      const other = containers.get(needed);
      if (other === undefined) throw new Error(`${name} needs ${needed}, which is not there`);
      if (condition === 'service_healthy') await becomesHealthy(needed, other);
      if (condition === 'service_completed_successfully') {
        const code = await other.ended;
        if (code !== 0) throw new Error(`${needed} ended with ${code}: ${other.output()}`);
      }
    }
    starts += 1;
    const own = join(directory, `${name}-${starts}`);
    await mkdir(own);
    const where = { home: dirname(file), directory: own, volumes: join(directory, 'volumes'), ...ownPaths };
    const container = await startContainer(name, service, standIn, { ...where, nameServer: network.nameServer });
    containers.set(name, container);
    if (service.healthcheck !== undefined || standIn.healthcheck !== undefined) {
      // A container that runs once and ends has no health check, whatever its image defines.
      if (service.restart !== undefined) await becomesHealthy(name, container);
    }
  }

  function begun(name: string): Promise<void> {
    const already = starting.get(name);
    if (already !== undefined) return already;
    const now = start(name);
    starting.set(name, now);
    return now;
  }

  await Promise.all(Object.keys(services).map(begun));
  return {
    notShown,
    start,
    volume,
    container(name) {
      const container = containers.get(name);
      if (container === undefined) throw new Error(`${name} does not run`);
      return container;
    },
    published(port) {
      for (const [name, { ports }] of Object.entries(services)) {
        const [, inside] =
          ports.map((one) => one.split(':').slice(-2)).find(([outside]) => outside === String(port)) ?? [];
        if (inside !== undefined) return `http://${joined.get(name)?.address}:${inside}`;
      }
      throw new Error(`no service publishes port ${port}`);
    },
  };
}
