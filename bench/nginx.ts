/** Runs nginx, if installed: as an upstream with fixed responses, and as a proxy to compare with. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { localhostCertificate, localhostKey } from '../test/support/upstreams/localhost-certificate.ts';
import { acceptsConnections, type Child, type Children, type Core, findProgram, freePort } from './children.ts';
import type { Payload } from './payloads.ts';

export const nginx: string | undefined = findProgram('nginx');

export interface NginxServer {
  readonly port: number;
  readonly child: Child;
}

/** What a quoted word of an nginx configuration may be long, with room to spare. */
const inlineLimitBytes = 2_048;

/** Answers `/{payload name}/...`, any method; a static file would refuse POST, so its 405 is turned into the file. */
export function startNginxUpstream(
  children: Children,
  directory: string,
  payloads: readonly Payload[],
  isTls: boolean,
): Promise<NginxServer> {
  return start(children, directory, 'load', (port) => {
    if (isTls) {
      writeFileSync(join(directory, 'certificate.pem'), localhostCertificate);
      writeFileSync(join(directory, 'key.pem'), localhostKey);
    }
    const tls = isTls ? `ssl_certificate ${directory}/certificate.pem; ssl_certificate_key ${directory}/key.pem;` : '';
    const locations = payloads.map(({ name, answer, contentType }) => {
      const text = answer.toString('utf8');
      if (answer.length <= inlineLimitBytes && !text.includes('$')) {
        const quoted = text.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
        return `location /${name}/ { default_type ${contentType}; return 200 '${quoted}'; }`;
      }
      writeFileSync(join(directory, name), answer);
      return `
    location /${name}/ { error_page 405 =200 /files/${name}; return 405; }
    location = /files/${name} { internal; default_type ${contentType}; alias ${join(directory, name)}; }`;
    });
    return `server {
    listen 127.0.0.1:${port} backlog=4096${isTls ? ' ssl' : ''};
    ${tls}
    open_file_cache max=100;
    open_file_cache_valid 1h;
    ${locations.join('\n    ')}
  }`;
  });
}

/** Puts `prefix` before every path and sends it to the port. */
export function startNginxProxy(
  children: Children,
  directory: string,
  upstreamPort: number,
  prefix: string,
  isTls: boolean,
): Promise<NginxServer> {
  return start(
    children,
    directory,
    'subject',
    (port) => `upstream bench {
    server 127.0.0.1:${upstreamPort};
    keepalive 256;
    keepalive_requests 1000000000;
    keepalive_timeout 1h;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass ${isTls ? 'https' : 'http'}://bench${prefix}/;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_max_temp_file_size 0;
    }
  }`,
  );
}

async function start(
  children: Children,
  directory: string,
  core: Core,
  toServers: (port: number) => string,
): Promise<NginxServer> {
  if (nginx === undefined) throw new Error('nginx is not installed');
  mkdirSync(directory, { recursive: true });
  const port = await freePort();
  const file = join(directory, 'nginx.conf');
  writeFileSync(file, toConfig(directory, toServers(port)));
  const child = children.start({
    command: nginx,
    args: ['-p', directory, '-c', file, '-e', join(directory, 'error.log')],
    outputFile: join(directory, 'output.log'),
    core,
  });
  await acceptsConnections(port, child);
  return { port, child };
}

/** One process, so that its CPU time and memory are all there is. */
function toConfig(directory: string, servers: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(directory, 'temporary')};`,
  );
  return `daemon off;
master_process off;
pid ${join(directory, 'nginx.pid')};
error_log ${join(directory, 'error.log')} error;
events { worker_connections 4096; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  client_max_body_size 0;
  client_body_buffer_size 2m;
  ${temporary.join('\n  ')}
  ${servers}
}
`;
}
