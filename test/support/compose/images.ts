/** Replacements of Docker images: programs of Debian or of this checkout, started as the image starts its own. */

import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { collectorProgram } from '../servers/collector-program.ts';
import { readDockerfile } from './dockerfile.ts';

export interface StandIn {
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: readonly string[] | undefined;
  /** What of this machine stands where in the container. */
  readonly files?: Readonly<Record<string, string>>;
  readonly links?: Readonly<Record<string, string>>;
  /** Folders of the image that are not root's: a new volume there belongs to the same. */
  readonly owned?: Readonly<Record<string, number>>;
}

const repository = fileURLToPath(new URL('../../../', import.meta.url));
const image = readDockerfile(readFileSync(new URL('../../../deploy/Dockerfile', import.meta.url), 'utf8'));

/** Programs of Debian's PostgreSQL are not on the path. */
export const pathInside = [
  process.env.PATH ?? '',
  '/usr/sbin',
  ...globSync('/usr/lib/postgresql/*/bin').toSorted().slice(-1),
].join(delimiter);

/** As the entry point of the image does it: as root it makes the database, and then is the user. */
const postgres = `
set -e
export PGDATA=/var/lib/postgresql/data
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  chown postgres "$PGDATA"
  cp "$POSTGRES_PASSWORD_FILE" /tmp/password
  chown postgres /tmp/password
  as="setpriv --reuid=postgres --regid=postgres --clear-groups"
  $as initdb --username="$POSTGRES_USER" --auth=scram-sha-256 --pwfile=/tmp/password --encoding=UTF8 --no-sync >/dev/null
  rm /tmp/password
  echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
  echo "create database $POSTGRES_DB" | $as postgres --single -j postgres >/dev/null
fi
exec setpriv --reuid=postgres --regid=postgres --clear-groups postgres -c "listen_addresses=*" -c unix_socket_directories=/tmp
`;

const root = '0:0';

/** By the name of the image, whatever its version; undefined where nothing stands for it. */
export async function standInOf(name: string): Promise<StandIn | undefined> {
  switch (name.replace(/:.*$/, '')) {
    case 'postern':
      return {
        ...image,
        files: { '/app/node': process.execPath, '/checkout': repository },
        // Its real path counts: what is under node_modules would have to be JavaScript.
        links: { '/app/node_modules/postern/dist/main.js': '/checkout/src/main.ts' },
        owned: { '/data': Number(image.user.split(':')[0]) },
      };
    case 'haproxy':
      return {
        user: '99:99',
        entrypoint: [],
        command: ['haproxy', '-W', '-db', '-f', '/usr/local/etc/haproxy/haproxy.cfg'],
      };
    case 'postgres':
      return { user: root, entrypoint: ['sh', '-c', postgres], command: [] };
    case 'redis':
      // Its protected mode is off in the image.
      return { user: root, entrypoint: ['sh', '-c', 'exec "$@" --protected-mode no', 'sh'], command: ['redis-server'] };
    case 'prom/prometheus':
      return { user: '65534:65534', entrypoint: ['prometheus'], command: [], owned: { '/prometheus': 65_534 } };
    case 'otel/opentelemetry-collector-contrib':
      return {
        user: '10001:10001',
        entrypoint: ['/otelcol-contrib'],
        command: [],
        files: { '/otelcol-contrib': await collectorProgram() },
      };
    default:
      return undefined;
  }
}

/** What it takes beside root; empty where all is there. */
export function missingPrograms(): readonly string[] {
  const programs = ['go', 'haproxy', 'initdb', 'ip', 'nsenter', 'prometheus', 'redis-server', 'setpriv', 'wget'];
  return programs.filter((program) => {
    try {
      execFileSync('sh', ['-c', 'command -v "$1"', 'sh', program], { env: { PATH: pathInside } });
      return false;
    } catch {
      return true;
    }
  });
}
