/** Compiles the `server` section of the configuration. */

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { ServerSettings, SocketSettings } from '../../../core/snapshot.ts';
import { toBlockList } from '../../../lib/addresses/address-range.ts';
import { isSocketPath, longestSocketPath } from '../../../lib/addresses/socket-origin.ts';
import { fromBytes } from '../../../lib/quantities.ts';
import { codeOf } from '../../../lib/thrown.ts';
import { type Location, readSideFile } from '../context.ts';
import type { ServerSection } from './schema.ts';

/** Default delay of a stop in Kubernetes, where proxies still send requests until they learn that the pod is ending. */
const kubernetesDelayMs = 5_000;

export function toServerSettings(server: ServerSection, location: Location): ServerSettings {
  const { host = '127.0.0.1' } = server;
  const { context } = location;
  checkHost(host, location.at('host'));
  return Object.freeze({
    host,
    port: toPort(server),
    socket: server.socket && toSocket(server.socket, location.at('socket', 'path')),
    workers: server.workers === 'auto' ? context.availableCores : server.workers,
    basePath: toBasePath(server.base_path, location.at('base_path')),
    bodyLimitBytes: server.body_limit,
    bodyMemoryBytes: toBodyMemory(server, location.at('body_memory')),
    uploadLimitBytes: server.upload_limit,
    uploadDiskBytes: toUploadDisk(server, location.at('upload_disk')),
    uploadDirectory: server.upload_directory,
    bodyWaitMs: Math.min(server.body_wait, server.timeouts.request / 2),
    diagnostics: server.diagnostics,
    revealModels: server.reveal_models,
    headersTimeoutMs: server.timeouts.headers,
    requestTimeoutMs: server.timeouts.request,
    keepAliveTimeoutMs: server.timeouts.keep_alive,
    maxConnections: server.max_connections,
    maxConnectionsPerAddress: server.max_connections_per_address,
    maxHeaderBytes: server.max_header_size,
    answersHalfClosed: server.half_close === 'answer',
    drain: Object.freeze({
      delayMs: server.drain.delay ?? (context.isInKubernetes ? kubernetesDelayMs : 0),
      deadlineMs: server.drain.deadline,
    }),
    tls: server.tls && toTls(server.tls, location.at('tls')),
    trustedProxies: server.trusted_proxies.length === 0 ? undefined : toBlockList(server.trusted_proxies),
    corsOrigins: Object.freeze(toOrigins(server.cors.origins, location.at('cors', 'origins'))),
    firstKey: server.first_key,
    logClientAddress: server.log_client_address,
    shedding: toShedding(server.shedding, location.at('shedding', 'memory')),
  });
}

/** The TCP port; undefined where the section has a socket and no port, which means the socket only. */
function toPort({ host, port, socket }: ServerSection): number | undefined {
  return socket !== undefined && host === undefined && port === undefined ? undefined : (port ?? 4000);
}

function toSocket(socket: NonNullable<ServerSection['socket']>, location: Location): SocketSettings {
  const { mode, trusted, ...rest } = socket;
  if (!isSocketPath(rest.path)) {
    location.fault(
      `wanted: the whole path of a file, ${longestSocketPath} bytes at most, such as /run/postern/postern.sock`,
    );
  }
  return Object.freeze({ ...rest, mode: Number.parseInt(mode, 8), isTrusted: trusted });
}

export function checkHost(host: string, location: Location): void {
  if (isIP(host) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(host)) return;
  location.fault('wanted: a host name or an IP address, without brackets and without the port');
}

function toBasePath(written: string, location: Location): string {
  const path = written.replace(/^\/+|\/+$/g, '');
  if (path === '') return '';
  const segments = path.split('/');
  const plain = segments.every((segment) => /^[A-Za-z0-9._~-]+$/.test(segment) && !/^\.\.?$/.test(segment));
  if (!plain) {
    location.fault('wanted: a path such as /ai or /team/ai, of letters, digits, dots, dashes and underscores');
  }
  return `/${path}`;
}

function toOrigins(origins: readonly string[], location: Location): string[] {
  return origins.map((origin, index) => {
    if (origin === '*') return origin;
    const url = /^https?:\/\/[^/?#@\\\s]+\/?$/i.test(origin) ? URL.parse(origin) : null;
    if (url === null) {
      location.at(index).fault('wanted: an origin such as https://app.example.com, without a path, or *');
    }
    return url?.origin ?? origin;
  });
}

/** Default disk space for uploads, as a number of longest forms: enough for several keys at a time. */
const standardUploads = 4;

function toUploadDisk({ upload_disk: written, upload_limit: limit }: ServerSection, location: Location): number {
  if (written !== undefined && written < limit) {
    location.fault(`wanted: no less than server.upload_limit, ${fromBytes(limit)}`);
  }
  return written ?? standardUploads * limit;
}

/** Least memory for bodies, as a number of longest bodies: changing the model name or decompressing may take a second copy. */
const fewestBodies = 2;
const standardShare = 1 / 8;
/** Share of the memory above which a warning says that the process has little left for its other work. */
const unwiseShare = 1 / 4;

function toBodyMemory(server: ServerSection, location: Location): number {
  const { availableBytes, availableCores } = location.context;
  const workers = server.workers === 'auto' ? availableCores : server.workers;
  const ownBytes = availableBytes / workers;
  const fewestBytes = fewestBodies * server.body_limit;
  const { body_memory: written } = server;
  if (written === undefined) {
    const bytes = Math.max(Math.floor(ownBytes * standardShare), fewestBytes);
    if (bytes > ownBytes * unwiseShare) {
      location.warn(
        `: two bodies of server.body_limit, ${fromBytes(bytes)}, are more than a quarter of the ${toMebibytes(ownBytes)} that this process may use; lower server.body_limit, or give it more memory`,
      );
    }
    return bytes;
  }
  const bytes = typeof written === 'number' ? written : Math.floor((ownBytes * written.percent) / 100);
  if (bytes < fewestBytes) {
    const came = typeof written === 'number' ? '' : `${written.percent}% are ${toMebibytes(bytes)} here; `;
    location.fault(`${came}wanted: at least two of server.body_limit, ${fromBytes(fewestBytes)}`);
  }
  if (bytes > ownBytes) location.warn(`: ${fromBytes(bytes)} is more than this process may have`);
  return bytes;
}

const toMebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 ** 2)}MiB`;

function toShedding(
  { loop_delay: loopDelayMs, memory }: ServerSection['shedding'],
  location: Location,
): ServerSettings['shedding'] {
  const { availableBytes } = location.context;
  const memoryBytes = typeof memory === 'number' ? memory : Math.floor((availableBytes * memory.percent) / 100);
  if (memoryBytes > availableBytes) {
    location.warn(`: ${fromBytes(memoryBytes)} is more than this process may have, so it is never reached`);
  }
  return Object.freeze({ loopDelayMs, memoryBytes });
}

function toTls(section: NonNullable<ServerSection['tls']>, location: Location): ServerSettings['tls'] {
  const cert = readSideFile(section.cert, location.at('cert'));
  const key = readSideFile(section.key, location.at('key'));
  if (cert === undefined || key === undefined) return undefined;
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const code = codeOf(error);
    location.fault(`the two files are no PEM certificate and its private key${code === undefined ? '' : ` (${code})`}`);
    return undefined;
  }
  return Object.freeze({ cert, key });
}

/** Where the kernel reports memory limits: the file that lists the process's control groups, one a line, and the directory with their files. */
const standardGroups = { membership: '/proc/self/cgroup', root: '/sys/fs/cgroup' };

/** The memory available to this process: the machine's, or less by the limit of a control group around it. */
export function availableMemory(machineBytes = totalmem(), groups = standardGroups): number {
  const limits = cgroupsIn(readText(groups.membership) ?? '', groups.root).map(readLimit);
  // The runtime reads only its own group, and knows systems without these files.
  return Math.min(machineBytes, process.constrainedMemory() || machineBytes, ...limits);
}

/** The files with the memory limits of the process's control group, and of each group around it, which apply too. */
function cgroupsIn(membership: string, root: string): string[] {
  return membership.split('\n').flatMap((line) => {
    const [, id, controllers = '', path = '/'] = /^(\d+):([^:]*):(.*)$/.exec(line) ?? [];
    if (id === '0')
      return around(path).flatMap((group) => [join(root, group, 'memory.max'), join(root, group, 'memory.high')]);
    if (!controllers.split(',').includes('memory')) return [];
    return around(path).map((group) => join(root, 'memory', group, 'memory.limit_in_bytes'));
  });
}

/** The path of a control group and of those around it: `/a/b` is in `/a`, and that is in `/`, which containers see as their own. */
function around(path: string): string[] {
  const names = path.split('/').filter((name) => name !== '' && name !== '..');
  return Array.from({ length: names.length + 1 }, (_, length) => `/${names.slice(0, length).join('/')}`);
}

/** The limit in a file; infinite where there is none: version 1 of control groups writes a huge number for that, version 2 "max". */
function readLimit(file: string): number {
  const text = readText(file)?.trim() ?? '';
  return /^\d+$/.test(text) && Number(text) > 0 ? Number(text) : Number.POSITIVE_INFINITY;
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // another system, or a group that is not visible here
  }
}
