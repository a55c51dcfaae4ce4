/** Runs Redis on a free port without persistence, for measurements with shared limits. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { acceptsConnections, type Children, findProgram, freePort } from './children.ts';

/** Undefined if there is none on the path. */
export const redisProgram: string | undefined = findProgram('redis-server') ?? findProgram('valkey-server');

/** Its URL. */
export async function startRedis(children: Children, directory: string): Promise<string> {
  if (redisProgram === undefined) throw new Error('there is no redis-server on the path');
  mkdirSync(directory, { recursive: true });
  const port = await freePort();
  const child = children.start({
    command: redisProgram,
    args: ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', directory],
    outputFile: join(directory, 'redis.log'),
    core: 'load',
  });
  await acceptsConnections(port, child);
  return `redis://127.0.0.1:${port}`;
}
