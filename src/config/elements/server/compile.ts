/** Compiles the `server` section. */

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
import type { Path } from '../../read/faults.ts';
import { type CompileContext, readSideFile } from '../context.ts';
import type { ServerSection } from './schema.ts';

/** Until proxies have heard that a pod is ending, they send it requests. */
const kubernetesDelayMs = 5_000;

export function toServerSettings(server: ServerSection, context: CompileContext): ServerSettings {
  const { host = '127.0.0.1' } = server;
  checkHost(host, ['server', 'host'], context);
  return Object.freeze({
    host,
    port: toPort(server),
    socket: server.socket && toSocket(server.socket, context),
    workers: server.workers === 'auto' ? context.availableCores : server.workers,
    basePath: toBasePath(server.base_path, context),
    bodyLimitBytes: server.body_limit,
    bodyMemoryBytes: toBodyMemory(server, context),
    uploadLimitBytes: server.upload_limit,
    uploadDiskBytes: toUploadDisk(server, context),
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
    tls: toTls(server.tls, context),
    trustedProxies: server.trusted_proxies.length === 0 ? undefined : toBlockList(server.trusted_proxies),
    corsOrigins: Object.freeze(toOrigins(server.cors.origins, context)),
    firstKey: server.first_key,
    logClientAddress: server.log_client_address,
    shedding: toShedding(server.shedding, context),
  });
}

/** Whoever writes a socket and nothing else means that one alone. */
function toPort({ host, port, socket }: ServerSection): number | undefined {
  return socket !== undefined && host === undefined && port === undefined ? undefined : (port ?? 4000);
}

function toSocket(
  { path, mode, owner, group, trusted }: NonNullable<ServerSection['socket']>,
  { faults }: CompileContext,
): SocketSettings {
  if (!isSocketPath(path)) {
    faults.add(
      ['server', 'socket', 'path'],
      `wanted: the whole path of a file, ${longestSocketPath} bytes at most, such as /run/postern/postern.sock`,
    );
  }
  return Object.freeze({ path, mode: Number.parseInt(mode, 8), owner, group, isTrusted: trusted });
}

export function checkHost(host: string, at: Path, { faults }: CompileContext): void {
  if (isIP(host) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(host)) return;
  faults.add(at, 'wanted: a host name or an IP address, without brackets and without the port');
}

function toBasePath(written: string, { faults }: CompileContext): string {
  const path = written.replace(/^\/+|\/+$/g, '');
  if (path === '') return '';
  const segments = path.split('/');
  const plain = segments.every((segment) => /^[A-Za-z0-9._~-]+$/.test(segment) && !/^\.\.?$/.test(segment));
  if (!plain) {
    faults.add(
      ['server', 'base_path'],
      'wanted: a path such as /ai or /team/ai, of letters, digits, dots, dashes and underscores',
    );
  }
  return `/${path}`;
}

function toOrigins(origins: readonly string[], { faults }: CompileContext): string[] {
  return origins.map((origin, index) => {
    if (origin === '*') return origin;
    const url = /^https?:\/\/[^/?#@\\\s]+\/?$/i.test(origin) ? URL.parse(origin) : null;
    if (url === null) {
      faults.add(
        ['server', 'cors', 'origins', index],
        'wanted: an origin such as https://app.example.com, without a path, or *',
      );
    }
    return url?.origin ?? origin;
  });
}

/** So that several keys can send one as long as it may be. */
const standardUploads = 4;

function toUploadDisk(
  { upload_disk: written, upload_limit: limit }: ServerSection,
  { faults }: CompileContext,
): number {
  if (written !== undefined && written < limit) {
    faults.add(['server', 'upload_disk'], `wanted: no less than server.upload_limit, ${fromBytes(limit)}`);
  }
  return written ?? standardUploads * limit;
}

/** Two bodies as long as they may be: one that is renamed or compressed may come to that, and somebody else wants to be served. */
const fewestBodies = 2;
const standardShare = 1 / 8;
/** A process that may give more of its memory away than this has little left for the rest of its work. */
const unwiseShare = 1 / 4;

function toBodyMemory(server: ServerSection, { availableBytes, availableCores, faults, warnings }: CompileContext) {
  const workers = server.workers === 'auto' ? availableCores : server.workers;
  const ownBytes = availableBytes / workers;
  const fewestBytes = fewestBodies * server.body_limit;
  const { body_memory: written } = server;
  if (written === undefined) {
    const bytes = Math.max(Math.floor(ownBytes * standardShare), fewestBytes);
    if (bytes > ownBytes * unwiseShare) {
      warnings.push(
        `server.body_memory: two bodies of server.body_limit, ${fromBytes(bytes)}, are more than a quarter of the ${toMebibytes(ownBytes)} that this process may use; lower server.body_limit, or give it more memory`,
      );
    }
    return bytes;
  }
  const bytes = typeof written === 'number' ? written : Math.floor((ownBytes * written.percent) / 100);
  if (bytes < fewestBytes) {
    const came = typeof written === 'number' ? '' : `${written.percent}% are ${toMebibytes(bytes)} here; `;
    faults.add(
      ['server', 'body_memory'],
      `${came}wanted: at least two of server.body_limit, ${fromBytes(fewestBytes)}`,
    );
  }
  if (bytes > ownBytes) {
    warnings.push(`server.body_memory: ${fromBytes(bytes)} is more than this process may have`);
  }
  return bytes;
}

const toMebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 ** 2)}MiB`;

function toShedding(
  { loop_delay: loopDelayMs, memory }: ServerSection['shedding'],
  { availableBytes, warnings }: CompileContext,
): ServerSettings['shedding'] {
  const memoryBytes = typeof memory === 'number' ? memory : Math.floor((availableBytes * memory.percent) / 100);
  if (memoryBytes > availableBytes) {
    warnings.push(
      `server.shedding.memory: ${fromBytes(memoryBytes)} is more than this process may have, so it is never reached`,
    );
  }
  return Object.freeze({ loopDelayMs, memoryBytes });
}

function toTls(section: ServerSection['tls'], context: CompileContext): ServerSettings['tls'] {
  if (section === undefined) return undefined;
  const cert = readSideFile(section.cert, ['server', 'tls', 'cert'], context);
  const key = readSideFile(section.key, ['server', 'tls', 'key'], context);
  if (cert === undefined || key === undefined) return undefined;
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const code = codeOf(error);
    context.faults.add(
      ['server', 'tls'],
      `the two files are no PEM certificate and its private key${code === undefined ? '' : ` (${code})`}`,
    );
    return undefined;
  }
  return Object.freeze({ cert, key });
}

/** Where the kernel tells; another place in tests. */
interface ControlGroups {
  /** Which groups the process is in, one a line. */
  readonly membership: string;
  /** Where their files are. */
  readonly root: string;
}

const standardGroups: ControlGroups = { membership: '/proc/self/cgroup', root: '/sys/fs/cgroup' };

/** How much memory this process may use: what the machine has, or less where a control group around it says so. */
export function availableMemory(machineBytes = totalmem(), groups = standardGroups): number {
  const limits = cgroupsIn(readText(groups.membership) ?? '', groups.root).map(readLimit);
  // The runtime looks at the group itself alone, and knows systems that have none of these files.
  return Math.min(machineBytes, process.constrainedMemory() || machineBytes, ...limits);
}

/** The files with a limit: of the group, and of each around it, which binds it just as well. */
function cgroupsIn(membership: string, root: string): string[] {
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
