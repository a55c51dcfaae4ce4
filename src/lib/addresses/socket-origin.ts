/** Unix sockets written as an origin: `unix:/run/x.sock:`, followed by a path. */

import { Buffer } from 'node:buffer';

/** For `Host` and signed URLs: such a service has no name. */
export const socketHost = 'localhost';

/** The longest socket path on the supported systems. */
export const longestSocketPath = 103;

const scheme = 'unix:';

export interface SocketUrl {
  readonly socket: string;
  /** The URL path; empty, or begins with a slash. */
  readonly path: string;
}

export const isSocketUrl = (written: string): boolean => written.startsWith(scheme);

export const toSocketOrigin = (socket: string): string => `${scheme}${socket}:`;

/** The file's path ends at the last colon before a slash, or else at the end, with an optional colon. */
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

/** A URL for parsers: the service behind a socket counts as one on this machine. */
export function toUrlOrigin(origin: string): string {
  return isSocketUrl(origin) ? `http://${socketHost}` : origin;
}

/** Whether it is a valid path for a socket's file, in every working directory. */
export function isSocketPath(path: string): boolean {
  return /^\/[^\0]*[^\0/]$/.test(path) && Buffer.byteLength(path) <= longestSocketPath;
}
