/** Runs a real nginx with one server block during a test. */

import type { TestContext } from 'node:test';
import { type ServerProgram, startServerProgram } from './server-program.ts';

export interface NginxOptions {
  /** What stands in the server block beside `listen`. */
  readonly server: string;
  /** What stands in the http block before the server; paths are relative to the program's own directory. */
  readonly http?: string;
}

/** One process, one worker: what it keeps of connections, every request shares. */
export function startNginx(t: TestContext, { server, http = 'access_log off;' }: NginxOptions): Promise<ServerProgram> {
  return startServerProgram(t, {
    command: 'nginx',
    args: (file, directory) => ['-p', directory, '-e', 'error.log', '-c', file],
    configuration: (port) => `
      daemon off; master_process off; pid pid; error_log error.log info;
      events { worker_connections 4096; }
      http {
        client_max_body_size 64m;
        client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
        ${http}
        server { listen 127.0.0.1:${port}; ${server} }
      }`,
  });
}
