/** Reads URLs of Unix sockets, written with an origin such as `unix:/run/x.sock:`, followed by a path. */

import { Buffer } from 'node:buffer';

/** Host of a service behind a socket, for `Host` and signed URLs: such a service has no name. */
export const socketHost = 'localhost';

/** The longest socket path on the supported systems. */
export const longestSocketPath = 103;

const scheme = 'unix:';

export interface SocketUrl {
  readonly socket: string;
  /** The path of the URL behind the socket; empty, or begins with a slash. */
  readonly path: string;
}

export const isSocketUrl = (written: string): boolean => written.startsWith(scheme);

export const toSocketOrigin = (socket: string): string => `${scheme}${socket}:`;

/** Splits the URL of a socket into origin and path. The file's path ends at the last colon before a slash, or else at the end. */
export function toSocketUrl(written: string): SocketUrl {
  const text = written.slice(scheme.length);
  const end = text.lastIndexOf(':/');
  return end === -1
    ? { socket: text.replace(/:$/, ''), path: '' }
    : { socket: text.slice(0, end), path: text.slice(end + 1) };
}

/** The path of an origin's socket file; undefined where the origin is a usual URL's. */
export function socketOf(origin: string): string | undefined {
  return isSocketUrl(origin) ? origin.slice(scheme.length, -1) : undefined;
}

/** The origin as a URL for parsers: the service behind a socket counts as one on this machine. */
export function toUrlOrigin(origin: string): string {
  return isSocketUrl(origin) ? `http://${socketHost}` : origin;
}

/** Whether a text is a valid path for a socket's file, in every working directory. */
export function isSocketPath(path: string): boolean {
  return /^\/[^\0]*[^\0/]$/.test(path) && Buffer.byteLength(path) <= longestSocketPath;
}
