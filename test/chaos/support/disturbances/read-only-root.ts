/** Runs a command as another user with a single writable folder. */

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The user nobody, who owns no files. */
export const otherUser = 65_534;

/**
 * Every mount becomes read-only in a mount namespace of its own, save the folder and what the kernel shows of itself; then the command
 * takes the place of the shell, so that signals reach it.
 */
const script = `
set -e
writable=$1; shift
mount --bind "$writable" "$writable"
while read -r _ _ _ _ at _; do
  case "$at" in "$writable"|/proc|/proc/*|/sys|/sys/*|/dev|/dev/pts|/dev/mqueue) continue;; esac
  mount -o remount,bind,ro "$at"
done < /proc/self/mountinfo
exec setpriv --reuid=${otherUser} --regid=${otherUser} --clear-groups --no-new-privs -- "$@"
`;

/** `writable` is absolute, without symbolic links, and belongs to the other user. */
export function onReadOnlyRoot(writable: string, command: string): readonly [string, ...string[]] {
  return ['unshare', '--mount', '--propagation', 'private', '--', 'sh', '-c', script, 'sh', writable, command];
}

/** Why there is no such world here; undefined where there is. Where CI is set, nothing is left out. */
export function whyNoReadOnlyRoot(writable: string, command: string): string | undefined {
  if (process.env.CI === 'true') return undefined;
  if (process.platform !== 'linux') return 'only Linux has mount namespaces';
  const [program, ...args] = onReadOnlyRoot(writable, command);
  try {
    execFileSync(program, [...args, '--version'], { stdio: 'pipe', cwd: '/' });
    return undefined;
  } catch (thrown) {
    return `it takes root, and a checkout that others can read (${thrown instanceof Error ? thrown.message.split('\n').slice(0, 2).join(' ') : String(thrown)})`;
  }
}

export interface Surroundings {
  readonly user: number;
  readonly isRootReadOnly: boolean;
}

/** As the system sees a process. */
export function surroundingsOf(pid: number): Surroundings {
  const user = Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  const mounts = readFileSync(`/proc/${pid}/mountinfo`, 'utf8').split('\n');
  const root = mounts.map((line) => line.split(' ')).find((fields) => fields[4] === '/');
  return { user, isRootReadOnly: root?.[5]?.split(',').includes('ro') ?? false };
}
