/** Unix sockets written as an origin: `unix:/run/x.sock:`, followed by a path. */

import { Buffer } from 'node:buffer';

/** What stands in `Host`, and in the URLs that are signed: such a service has no name. */
export const socketHost = 'localhost';

/** More does not fit in the address of a socket, on the systems that this runs on. */
export const longestSocketPath = 103;

const scheme = 'unix:';

export interface SocketUrl {
  /** Of the socket's file. */
  readonly socket: string;
  /** Behind it; empty, or begins with a slash. */
  readonly path: string;
}

export const isSocketUrl = (written: string): boolean => written.startsWith(scheme);

export const toSocketOrigin = (socket: string): string => `${scheme}${socket}:`;

/** The file's path ends at the last colon that a slash follows, or else at the end, where a colon of ours may stand. */
export function toSocketUrl(written: string): SocketUrl {
  const text = written.slice(scheme.length);
  const end = text.lastIndexOf(':/');
  return end === -1
    ? { socket: text.replace(/:$/, ''), path: '' }
    : { socket: text.slice(0, end), path: text.slice(end + 1) };
}

/** Undefined for the origin of a URL. */
export function socketOf(origin: string): string | undefined {
  return isSocketUrl(origin) ? origin.slice(scheme.length, -1) : undefined;
}

/** What whoever reads URLs can read: the service behind a socket is asked as if it were this machine's own. */
export function toUrlOrigin(origin: string): string {
  return isSocketUrl(origin) ? `http://${socketHost}` : origin;
}

/** Whether it can be the path of a socket's file, whoever starts the process, and wherever. */
export function isSocketPath(path: string): boolean {
  return /^\/[^\0]*[^\0/]$/.test(path) && Buffer.byteLength(path) <= longestSocketPath;
}
