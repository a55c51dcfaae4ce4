/** Manages the file of the Unix socket for clients: removes a stale one, and sets owner and mode. */

import { chmod, lchown, lstat, readFile, unlink } from 'node:fs/promises';
import { connect } from 'node:net';
import type { SocketSettings } from '../core/snapshot.ts';
import { codeOf } from '../lib/thrown.ts';

/** A fault of the socket's file; the message is a sentence for the operator. */
export class SocketFileError extends Error {
  override readonly name = 'SocketFileError';
}

const elsewhere = 'or set server.socket.path to another one';

/** Removes the file of a process that has ended, and throws where anything else is at the path. */
export async function removeStaleSocket(path: string): Promise<void> {
  const found = await statOf(path);
  if (found === undefined) return;
  if (!found.isSocket())
    throw new SocketFileError(`there is a file at ${path} that is no socket; remove it, ${elsewhere}`);
  const answer = await knock(path);
  switch (answer) {
    case 'taken':
      throw isTaken(path);
    case 'ECONNREFUSED': {
      // Another process may have created a new socket file.
      const now = await statOf(path);
      if (now !== undefined && now.ino === found.ino && now.dev === found.dev) await unlink(path);
      return;
    }
    case 'ENOENT':
      return;
    default:
      throw new SocketFileError(
        `nobody can tell whether somebody listens at ${path} (${answer}); remove it, ${elsewhere}`,
      );
  }
}

function isTaken(path: string): SocketFileError {
  return new SocketFileError(`somebody listens at ${path}; stop what listens there, ${elsewhere}`);
}

/** Turns the error of creating a socket into one that says what to do; errors without a code stay unchanged. */
export function toSocketFault(path: string, error: unknown): unknown {
  const code = codeOf(error);
  if (error instanceof SocketFileError || code === undefined) return error;
  if (code === 'EADDRINUSE') return isTaken(path);
  return new SocketFileError(
    `no socket can be made at ${path} (${code}); see that its directory is there and may be written to, ${elsewhere}`,
  );
}

/** Sets owner and mode of the file; the owner first, as no one may connect until the mode is set. */
export async function setSocketAccess({ path, mode, owner, group }: SocketSettings): Promise<void> {
  try {
    if (owner !== undefined || group !== undefined) {
      const uid = owner === undefined ? -1 : await idOf(owner, 'user', '/etc/passwd');
      const gid = group === undefined ? -1 : await idOf(group, 'group', '/etc/group');
      await lchown(path, uid, gid);
    }
    await chmod(path, mode);
  } catch (error) {
    const code = codeOf(error);
    // The file was removed while other workers still serve: new clients cannot reach them.
    if (code === 'ENOENT') return;
    if (code === undefined) throw error;
    throw new SocketFileError(
      `${path} cannot be given its owner, group and mode (${code}); leave out server.socket.owner and server.socket.group, or name those that this user may give a file to`,
    );
  }
}

async function idOf(written: string | number, kind: 'user' | 'group', file: string): Promise<number> {
  if (typeof written === 'number') return written;
  if (/^\d+$/.test(written)) return Number(written);
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n');
  const id = lines.map((line) => line.split(':')).find(([name]) => name === written)?.[2];
  if (id !== undefined) return Number(id);
  throw new SocketFileError(`no ${kind} in ${file} is called ${written}; write its number in server.socket`);
}

async function statOf(path: string) {
  try {
    return await lstat(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw toSocketFault(path, error);
  }
}

/** Tries to connect to a socket: `taken` where a process accepts, else why the connection failed. */
function knock(path: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const answer = (found: string): void => {
      resolve(found);
      socket.destroy();
    };
    socket.once('connect', () => answer('taken'));
    socket.on('error', (error) => answer(codeOf(error) ?? error.message));
  });
}
