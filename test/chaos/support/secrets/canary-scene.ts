/** A complete gateway environment with a canary wherever a secret can be. */

import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  clientCertificate,
  clientKey,
  localhostCertificate,
  localhostKey,
} from '../../../support/upstreams/localhost-certificate.ts';
import type { Canaries } from './canaries.ts';

export interface SceneParts {
  readonly directory: string;
  readonly storeUrl: string;
  readonly redisUrl: string;
  readonly upstreamUrl: string;
  readonly hookUrl: string;
  readonly secrets: Canaries;
}

export interface Scene {
  readonly directory: string;
  readonly journal: string;
  readonly configFile: string;
  readonly env: Readonly<Record<string, string>>;
  readonly consoleToken: string;
  readonly fileKey: string;
  readonly firstKey: string;
  /** Credentials that must have been sent to the upstream: they were in use. */
  readonly credentials: readonly string[];
  readonly resources: Readonly<Record<string, unknown>>;
  /** Without keys, so that POSTERN_KEY makes the first. */
  readonly beginning: Readonly<Record<string, unknown>>;
  readonly config: Readonly<Record<string, unknown>>;
}

/** Where the models are that the traffic is for: each with a way to go wrong. */
const deadUrl = 'http://127.0.0.1:1';

export async function setScene(parts: SceneParts): Promise<Scene> {
  const { directory, secrets, upstreamUrl, storeUrl, redisUrl, hookUrl } = parts;
  const journal = join(directory, 'journal');
  await mkdir(join(directory, 'tls'), { recursive: true });
  const files: Record<string, string> = {
    'filed.key': secrets.make('filed-credential'),
    'pooled.key': secrets.make('pooled-file-credential'),
    'tls/server.pem': localhostCertificate,
    'tls/server.key': localhostKey,
    'tls/client.pem': clientCertificate,
    'tls/client.key': clientKey,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  for (const [name, pem] of Object.entries({ 'server.key': localhostKey, 'client.key': clientKey })) {
    secrets.add(`the private key of ${name}`, pem, { part: pem.split('\n')[1] ?? pem });
  }
  const sealingKey = randomBytes(32);
  secrets.add('the sealing key', sealingKey.toString('hex'), { digests: false });
  secrets.add('the sealing key in base64', sealingKey.toString('base64').slice(0, 42), { digests: false });
  const fileKey = secrets.make('file-key');
  // The store has its SHA-256, as it has of every key.
  const firstKey = secrets.make('first-key', '', { digests: false });
  const consoleToken = secrets.make('console-token');
  const env = {
    POSTERN_SECRET_KEY: sealingKey.toString('hex'),
    POSTERN_KEY: firstKey,
    UP_KEY: secrets.make('environment-credential'),
    STORE_URL: storeUrl,
    REDIS_URL: redisUrl,
    OPENAI_API_KEY: secrets.make('provider-key'),
    UNUSED_SECRET: secrets.make('unused'),
  };
  const up = (id: string, more: Readonly<Record<string, unknown>>) => ({
    ...{ id, family: 'openai', base_url: upstreamUrl, timeouts: { first_byte: '400ms' } },
    ...more,
  });
  const literal = secrets.make('literal-credential', '/+"\\=');
  const header = secrets.make('static-header');
  const pooled = secrets.make('pooled-credential');
  const health = secrets.make('health-query');
  const upstreams = [
    up('up', {
      api_key: literal,
      headers: { 'x-team-token': header },
      forward_headers: ['x-mine'],
      health_check: { path: `/health?token=${health}`, interval: '200ms' },
    }),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own spelling
    up('env', { api_key: '${UP_KEY}' }),
    up('filed', { api_key_file: join(directory, 'filed.key') }),
    up('pool', { credentials: [{ api_key: pooled }, { api_key_file: join(directory, 'pooled.key') }] }),
    up('down', { base_url: deadUrl, api_key: secrets.make('unreached-credential') }),
    up('mutual', {
      base_url: 'https://localhost:1',
      api_key: secrets.make('mutual-credential'),
      tls: { cert: join(directory, 'tls/client.pem'), key: join(directory, 'tls/client.key') },
    }),
  ];
  const sealed = secrets.make('sealed-credential');
  const sealedHeader = secrets.make('sealed-header');
  const sealedHealth = secrets.make('sealed-health-query');
  const sealedPool = [secrets.make('sealed-pool-1'), secrets.make('sealed-pool-2')];
  const resources = {
    upstreams: [
      up('stored', {
        api_key: sealed,
        headers: { 'x-team-token': sealedHeader },
        health_check: { path: `/health?token=${sealedHealth}`, interval: '200ms' },
      }),
      up('stored-pool', { credentials: sealedPool.map((api_key) => ({ api_key })) }),
    ],
    models: ['stored', 'stored-pool'].map(toModel),
  };
  const beginning = {
    server: {
      port: 0,
      timeouts: { request: '1s', headers: '1s' },
      body_limit: '64KiB',
      trusted_proxies: ['127.0.0.1'],
    },
    console: { port: 0, token: consoleToken },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own spelling
    store: '${STORE_URL}',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own spelling
    redis: '${REDIS_URL}',
    ledger: { journal },
    alerts: { webhooks: [{ url: `${hookUrl}/${secrets.make('hook-path')}?q=1`, secret: secrets.make('hook-secret') }] },
    projects: [{ id: 'team', limits: { requests_per_minute: 100_000 }, budgets: [{ every: 'day', amount: 1_000 }] }],
    upstreams,
    models: [
      ...upstreams.map(({ id }) => toModel(id)),
      {
        ...toModel('up'),
        id: 'poor',
        budgets: [{ every: 'total', amount: '0.01', alerts: ['1%', '80%', '100%'] }],
        price: { request: 0.004 },
      },
      { ...toModel('up'), id: 'free-*' },
    ],
    keys: [],
  };
  const config = {
    ...beginning,
    keys: [
      { id: 'file', secret: fileKey, project: 'team', limits: { requests_per_minute: 100_000, concurrency: 1_000 } },
      { id: 'slow', secret: secrets.make('limited-key'), limits: { requests_per_minute: 1 } },
    ],
  };
  return {
    ...{ directory, journal, env, consoleToken, fileKey, firstKey, resources, beginning, config },
    configFile: join(directory, 'postern.json'),
    credentials: [
      literal,
      header,
      pooled,
      health,
      env.UP_KEY,
      sealed,
      sealedHeader,
      sealedHealth,
      ...sealedPool,
      ...Object.values(files).slice(0, 2),
    ],
  };
}

function toModel(upstream: string) {
  return {
    ...{
      id: `m-${upstream}`,
      operations: ['embeddings', 'completions', 'moderations'],
      price: { input: 1, output: 1 },
    },
    targets: [{ upstream }],
  };
}

/** Configurations with a fault next to a secret, or in it: the error message must not contain the secret. */
export function toFaulty({ config, directory }: Scene, secrets: Canaries): [string, string][] {
  const change = (name: string, more: Readonly<Record<string, unknown>>): [string, string] => [
    name,
    JSON.stringify({ ...config, ...more }),
  ];
  const upstream = (name: string, more: Readonly<Record<string, unknown>>): [string, string] =>
    change(name, {
      upstreams: [{ id: 'up', family: 'openai', base_url: 'http://127.0.0.1:1', ...more }],
      models: [],
      keys: [],
    });
  const secret = secrets.make('faulty');
  const url = (scheme: string, rest: string): string => `${scheme}://user:${secret}@${rest}`;
  const yaml = `keys:\n  - id: dev\n    secret: `;
  return [
    change('a short key', { keys: [{ id: 'dev', secret: secret.slice(-20) }] }),
    change('a key with a space', { keys: [{ id: 'dev', secret: `${secret} and more` }] }),
    change('a key that is a list', { keys: [{ id: 'dev', secret: [secret] }] }),
    change('the same key twice', { keys: [1, 2].map((n) => ({ id: `dev${n}`, secret })) }),
    change('a console token with a space', { console: { token: `${secret} x` } }),
    change('a console token that is a mapping', { console: { token: { [secret]: secret } } }),
    change('a store of another kind', { store: url('mysql', 'host/db') }),
    change('a store with a bad port', { store: url('postgres', 'host:99999/db') }),
    change('a store with a bad option', { store: url('postgres', 'host/db?sslmode=perhaps') }),
    change('a store at an unreadable address', { store: url('postgres', '[::1/db') }),
    change('a Redis of another kind', { redis: url('http', 'host:1') }),
    change('a Redis with a bad port', { redis: url('redis', 'host:99999') }),
    change('a Redis that is a list', { redis: [url('redis', 'host')] }),
    change('a webhook with a user', { alerts: { webhooks: [{ url: url('https', 'host/x'), secret }] } }),
    change('a webhook of another kind', { alerts: { webhooks: [{ url: url('ftp', 'host/x') }] } }),
    change('a webhook with a bad secret', { alerts: { webhooks: [{ url: 'https://host/', secret: `${secret} é` }] } }),
    upstream('an address with a user', { base_url: url('http', '127.0.0.1:1') }),
    upstream('an address with a query', { base_url: `http://127.0.0.1:1/?key=${secret}` }),
    upstream('an address with a fragment', { base_url: `http://127.0.0.1:1/#${secret}` }),
    upstream('an address of another kind', { base_url: url('ftp', 'host') }),
    upstream('an unreadable address', { base_url: `http://user:${secret}@[::1` }),
    upstream('a credential with a line end', { api_key: `${secret}\nx` }),
    upstream('a credential that is a number and a list', {
      api_key: [secret],
      credentials: [{ api_key: { [secret]: 1 } }],
    }),
    upstream('two credentials alike', { credentials: [{ api_key: secret }, { api_key: secret }] }),
    upstream('a static header with a line end', { headers: { 'x-a': `${secret}\r\nx: y` } }),
    upstream('a static header that frames', { headers: { 'content-length': secret, connection: secret } }),
    upstream('a static header that is a mapping', { headers: { 'x-a': { [secret]: secret } } }),
    upstream('a health check that is no path', { health_check: { path: `health?${secret}` } }),
    upstream('a health check with a space', { health_check: { path: `/health?${secret} x` } }),
    upstream('a secret as a file', { tls: { key: join(directory, 'filed.key'), cert: join(directory, 'filed.key') } }),
    upstream('a key as a certificate', {
      tls: { cert: join(directory, 'tls/client.key'), key: join(directory, 'tls/client.pem') },
    }),
    upstream('a key of another certificate', {
      tls: { cert: join(directory, 'tls/server.pem'), key: join(directory, 'tls/client.key') },
    }),
    change('a key of another certificate', {
      server: { port: 0, tls: { cert: join(directory, 'tls/client.pem'), key: join(directory, 'tls/server.key') } },
    }),
    change('no certificate', {
      server: { port: 0, tls: { cert: join(directory, 'tls/server.key'), key: join(directory, 'filed.key') } },
    }),
    change('a variable that is not there', { keys: [{ id: 'dev', secret: `${secret}\${NOT_THERE}` }] }),
    change('a variable without an end', { keys: [{ id: 'dev', secret: `\${UP_KEY:-${secret}` }] }),
    ['text that does not end', `{"keys":[{"id":"dev","secret":"${secret}`],
    ['a line end in a text', `${yaml}"${secret}\nserver: {}\n`],
    ['a bracket that does not close', `${yaml}[${secret}\n`],
    ['a bad escape', `${yaml}"${secret}\\q"\n`],
    ['a tab', `keys:\n\t- secret: ${secret}\n`],
    ['a colon too many', `${yaml}a: ${secret}: b\n`],
    ['an anchor that is not there', `${yaml}*${secret}\n`],
    ['a tag that is not known', `${yaml}!${secret} x\n`],
    ['the same field twice', `${yaml}${secret}\n    secret: ${secret}\n`],
    ['a text alone', secret],
  ];
}
