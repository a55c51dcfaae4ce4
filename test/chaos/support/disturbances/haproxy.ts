/** A real HAProxy with one frontend and one backend, for the time of a test. */

import type { TestContext } from 'node:test';
import { type ServerProgram, startServerProgram } from '../../../support/servers/server-program.ts';

export interface HaproxyOptions {
  /** Where the backend's one server listens. */
  readonly port: number;
  /** Further lines of the sections. */
  readonly defaults?: readonly string[];
  readonly frontend?: readonly string[];
  readonly backend?: readonly string[];
}

/** One thread: what it keeps of connections, every request shares. What it logs is its output. */
export function startHaproxy(
  t: TestContext,
  { port: serverPort, defaults = [], frontend = [], backend = [] }: HaproxyOptions,
): Promise<ServerProgram> {
  return startServerProgram(t, {
    command: 'haproxy',
    args: (file) => ['-db', '-f', file],
    configuration: (port) =>
      [
        section('global', ['nbthread 1', 'maxconn 1000', 'log stdout format raw local0']),
        section('defaults', ['mode http', 'log global', 'option dontlognull', ...defaults]),
        section('frontend front', [`bind 127.0.0.1:${port}`, 'default_backend back', ...frontend]),
        section('backend back', [`server one 127.0.0.1:${serverPort}`, ...backend]),
        '',
      ].join('\n'),
  });
}

function section(title: string, lines: readonly string[]): string {
  return [title, ...lines.map((line) => `  ${line}`)].join('\n');
}
