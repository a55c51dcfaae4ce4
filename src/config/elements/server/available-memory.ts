/** How much memory this process may use: what the machine has, or less where a control group around it says so. */

import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';

/** Where the kernel tells; another place in tests. */
interface ControlGroups {
  /** Which groups the process is in, one a line. */
  readonly membership: string;
  /** Where their files are. */
  readonly root: string;
}

const standardGroups: ControlGroups = { membership: '/proc/self/cgroup', root: '/sys/fs/cgroup' };

export function availableMemory(machineBytes = totalmem(), groups = standardGroups): number {
  const limits = placesIn(readText(groups.membership) ?? '', groups.root).map(readLimit);
  // The runtime looks at the group itself alone, and knows systems that have none of these files.
  return Math.min(machineBytes, process.constrainedMemory() || machineBytes, ...limits);
}

/** The files with a limit: of the group, and of each around it, which binds it just as well. */
function placesIn(membership: string, root: string): string[] {
  return membership.split('\n').flatMap((line) => {
    const [, id, controllers = '', path = '/'] = /^(\d+):([^:]*):(.*)$/.exec(line) ?? [];
    if (id === '0')
      return around(path).flatMap((group) => [join(root, group, 'memory.max'), join(root, group, 'memory.high')]);
    if (!controllers.split(',').includes('memory')) return [];
    return around(path).map((group) => join(root, 'memory', group, 'memory.limit_in_bytes'));
  });
}

/** `/a/b` is in `/a`, and that in `/`, which a container may see as its own group. */
function around(path: string): string[] {
  const names = path.split('/').filter((name) => name !== '' && name !== '..');
  return Array.from({ length: names.length + 1 }, (_, length) => `/${names.slice(0, length).join('/')}`);
}

/** Without a limit where there is none, or no such file: the first version writes a number beyond all memory, the second "max". */
function readLimit(file: string): number {
  const text = readText(file)?.trim() ?? '';
  return /^\d+$/.test(text) && Number(text) > 0 ? Number(text) : Number.POSITIVE_INFINITY;
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // another system, or a group that is not shown here
  }
}
