/** The admin API on its own store and configuration, called as a signed-in member or anonymously. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createAccess } from '../../../src/admin/access/access.ts';
import { createOidcSignIn } from '../../../src/admin/access/oidc.ts';
import { createPasskeys } from '../../../src/admin/access/passkeys.ts';
import type { Watched } from '../../../src/admin/alerts/rules.ts';
import { createAlertWatch } from '../../../src/admin/alerts/watch.ts';
import { createAdminApi } from '../../../src/admin/api/api.ts';
import { createEventStreams } from '../../../src/admin/api/event-stream.ts';
import type { Caller } from '../../../src/admin/caller.ts';
import type { AdminContext, RefusedConfiguration } from '../../../src/admin/context.ts';
import { endpoints } from '../../../src/admin/endpoints.ts';
import { createLedgerTail } from '../../../src/admin/ledger/tail.ts';
import { createSampler } from '../../../src/admin/overview/live/sampler.ts';
import { createConsoleKey, createGatewayCalls } from '../../../src/admin/playground/gateway-calls.ts';
import { createKeyJudge } from '../../../src/config/elements/key/judge.ts';
import { loadConfiguration } from '../../../src/config/load.ts';
import { createResourceEditor, type ResourceEditorDeps } from '../../../src/config/store/resource-editor.ts';
import type { Role } from '../../../src/core/role.ts';
import { families } from '../../../src/families/index.ts';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { routes } from '../../../src/routes/index.ts';
import { toInstanceFacts } from '../../../src/serve/admin.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { definitions } from '../../../src/telemetry/metrics/definitions.ts';
import { createMetrics } from '../../../src/telemetry/metrics/metrics.ts';
import { createProxyRule } from '../../../src/upstream/connections/proxy-rule.ts';
import { createOwnProbe } from '../../../src/upstream/probes/probe.ts';

const csrfToken = 'csrf-token-of-the-test';

export interface AdminAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined where there is no body. */
  readonly json: ReturnType<typeof JSON.parse>;
}

export interface AdminOptions {
  /** The role to ask with; null: signed out. */
  readonly role?: Role | null;
  /** The member is the one of the cookie or the token of each request, and `role` is ignored. */
  readonly signsIn?: boolean;
  readonly configuration?: Readonly<Record<string, unknown>>;
  /** Where a gateway serves clients, for tests that call it. */
  readonly clientUrl?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Of what the endpoints and alerts see. */
  readonly clock?: Clock;
}

export async function openAdmin(
  t: TestContext,
  {
    role = 'owner',
    signsIn = false,
    configuration,
    clientUrl = 'http://127.0.0.1:4000',
    env = {},
    clock = systemClock,
  }: AdminOptions = {},
) {
  const cwd = await mkdtemp(join(tmpdir(), 'postern-admin-'));
  t.after(() => rm(cwd, { recursive: true, force: true, maxRetries: 20 }));
  const file = join(cwd, 'postern.yaml');
  await writeFile(file, JSON.stringify({ store: 'sqlite::memory:', ...configuration }));
  const load: ResourceEditorDeps['load'] = (resources, added = []) =>
    loadConfiguration({ configPath: file, env, cwd, families, resources, added });
  const first = await load([]);
  if (!first.ok) throw new Error(JSON.stringify(first.faults));
  let loaded = first;
  const store = await openStore('sqlite::memory:', { cwd });
  t.after(() => store.close());

  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const streams = createEventStreams();
  t.after(() => streams.close());
  const metrics = createMetrics({ routes, version: '0.0.0' });
  t.after(() => metrics.close());
  metrics.adopt(loaded.snapshot);
  const live = createSampler({
    read: async (only) => metrics.read(only),
    boundsOf: (name) => definitions[name].buckets,
    clock: systemClock,
  });
  t.after(() => live.close());
  const gatewayCalls = createGatewayCalls({
    consoleKey: createConsoleKey({ store, host: 'test-host', nowMs: () => systemClock.nowMs() }),
    clientUrl: () => clientUrl,
    certificate: () => loaded.snapshot.server.tls?.cert,
  });
  t.after(() => gatewayCalls.close());
  const probe = createOwnProbe({ proxyFor: createProxyRule(env), clock: systemClock, installation: 'installation' });
  t.after(() => probe.close());
  // Cheap passwords: what they cost is for their own test.
  const access = createAccess({
    store,
    clock: systemClock,
    url: () => loaded.snapshot.console.url,
    cost: { cost: 16, blockSize: 1, parallelization: 1 },
  });
  let refused: RefusedConfiguration | undefined;
  let webhookStatus = 204;
  let caller = toCaller(signsIn ? null : role);
  const watched: Watched = {
    store,
    series: store.series,
    clock,
    log,
    version: '0.0.0',
    families,
    configuration: {
      snapshot: () => loaded.snapshot,
      file: () => loaded.file,
      warnings: () => loaded.warnings,
      misplacedSecrets: () => loaded.misplacedSecrets,
      refused: () => refused,
    },
    access: signsIn ? access : { ...access, identify: async () => asProved(caller) },
    oidc: createOidcSignIn(() => loaded.snapshot.console.oidc, systemClock.nowMs),
    passkeys: createPasskeys(store, systemClock),
    probe,
    streams,
    live,
    instance: toInstanceFacts(() => loaded.snapshot.store, { env, cwd }),
    tail: createLedgerTail({ ledger: store.ledger, clock: systemClock, log, everyMs: 50 }),
    gatewayCalls,
    keyTerms: createKeyJudge(() => loaded),
    resources: createResourceEditor({ store, current: () => loaded, load, secrets: { env, cwd }, log }),
    clientUrl: () => clientUrl,
  };
  const sent: { readonly to: string; readonly body: string }[] = [];
  const alerts = createAlertWatch({
    context: watched,
    node: 'test-node',
    everyMs: 3_600_000,
    ways: {
      async post({ url }, _, body) {
        sent.push({ to: url, body });
        return webhookStatus;
      },
      async mail({ to }, { subject, text }) {
        sent.push({ to: to.join(), body: `${subject}\n${text}` });
      },
      sign: () => 'signed',
      close: async () => undefined,
    },
  });
  t.after(() => alerts.close());
  const context: AdminContext = { ...watched, alerts };
  const api = createAdminApi(endpoints, context);

  async function ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<AdminAnswer> {
    const request = new Request(`http://127.0.0.1:4001${path}`, {
      method,
      headers: {
        host: '127.0.0.1:4001',
        ...(caller.kind === 'member' ? { 'x-postern-csrf': csrfToken } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const response = await api.fetch(request, { address: '127.0.0.1' });
    const text = await response.text();
    return { status: response.status, headers: response.headers, json: text === '' ? undefined : JSON.parse(text) };
  }

  return {
    ask,
    store,
    context,
    cwd,
    /** Sent alerts, in place of a webhook and a mail server. */
    sent,
    /** What webhooks answer from now on. */
    answerWebhooks(status: number): void {
      webhookStatus = status;
    },
    /** As if the file had been changed so that it has this fault. */
    refuse(next: RefusedConfiguration | undefined): void {
      refused = next;
    },
    /** Applies the present contents of the store, as the running gateway does by itself. */
    async follow(): Promise<void> {
      const next = await load(await store.resources.list());
      if (!next.ok) throw new Error(JSON.stringify(next.faults));
      loaded = next;
    },
    become(next: Role | null): void {
      caller = toCaller(next);
    },
  };
}

function toCaller(role: Role | null): Caller {
  if (role === null) return { kind: 'nobody' };
  const provedAtMs = undefined;
  return {
    kind: 'member',
    memberId: `member-${role}`,
    name: `${role}@example.com`,
    role,
    sessionId: 's',
    csrfToken,
    provedAtMs,
  };
}

const asProved = (caller: Caller): Caller =>
  caller.kind === 'member' ? { ...caller, provedAtMs: systemClock.nowMs() } : caller;
