/** Getting into the console of a running gateway, staying in, and getting out: set-up, cookies, headers, several processes. */

import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { consoleUrl } from '../support/gateways/admin-listener.ts';
import { createDirectory } from '../support/gateways/configuration.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { runPostern } from '../support/gateways/postern-command.ts';

const password = 'lantern moss gate';
const person = { email: 'ada@example.com', name: 'Ada', password };

async function start(t: TestContext, more: Readonly<Record<string, unknown>> = {}): Promise<GatewayProcess> {
  const gateway = await startGatewayProcess({
    config: { upstreams: [{ id: 'local', family: 'local' }], ...more },
    readyTimeoutMs: 60_000,
  });
  t.after(() => gateway.stop());
  return gateway;
}

/** On a store that others use too. */
const on = (directory: string) => ({ store: `sqlite:${join(directory, 'postern.db')}` });

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: ReturnType<typeof JSON.parse>;
}

async function ask(base: string, method: string, path: string, body?: unknown, headers = {}): Promise<Answer> {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { connection: 'close', ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: text === '' ? undefined : JSON.parse(text) };
}

function browserOf({ headers, json }: Answer) {
  return { cookie: headers.getSetCookie()[0]?.split(';', 1)[0] ?? '', 'x-postern-csrf': String(json?.csrfToken) };
}

/** Read from the file that the start names. */
const setUpTokens = (gateway: GatewayProcess): string[] =>
  Array.from(gateway.stdout().matchAll(/^ {2}(\/.+\/setup-link)$/gm), ([, file = '']) => {
    const [, token = ''] =
      /^http:\/\/127\.0\.0\.1:\d+\/setup#token=([\w-]{43})\n$/.exec(readFileSync(file, 'utf8')) ?? [];
    return token;
  });

async function setUp(gateway: GatewayProcess): Promise<Answer> {
  const answer = await ask(consoleUrl(gateway), 'POST', '/api/setup', { token: setUpTokens(gateway)[0], ...person });
  assert.equal(answer.status, 200);
  return answer;
}

describe('access to the console', { concurrency: 2 }, () => {
  test('each start writes a link to a file of mode 0600 until there is an owner; the last one works once', async (t) => {
    const directory = await createDirectory(t);
    const first = await start(t, on(directory));
    const [former = ''] = setUpTokens(first);
    assert.match(former, /^[\w-]{43}$/);
    assert.equal(statSync(join(directory, 'setup-link')).mode & 0o777, 0o600);
    // Collected output contains only the path.
    assert.equal((first.stdout() + first.stderr()).includes(former), false);
    chmodSync(join(directory, 'setup-link'), 0o644);
    await first.stop();
    const second = await start(t, on(directory));
    const console = consoleUrl(second);
    assert.equal((await ask(console, 'POST', '/api/setup', { token: former, ...person })).status, 404);
    const made = await setUp(second);
    assert.equal(made.json.member.role, 'owner');
    assert.equal(statSync(join(directory, 'setup-link')).mode & 0o777, 0o600);
    const again = { ...person, token: setUpTokens(second)[0], email: 'eve@example.com' };
    assert.equal((await ask(console, 'POST', '/api/setup', again)).status, 404);
    await second.stop();
    const third = await start(t, on(directory));
    assert.deepEqual(setUpTokens(third), []);
    assert.equal(existsSync(join(directory, 'setup-link')), false);
    assert.equal((await ask(consoleUrl(third), 'GET', '/api/members', undefined, browserOf(made))).status, 200);
  });

  test('cookie and responses have strict security attributes and headers', async (t) => {
    const gateway = await start(t);
    const console = consoleUrl(gateway);
    const made = await setUp(gateway);
    assert.match(
      made.headers.getSetCookie().join('\n'),
      /^postern_session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    const browser = browserOf(made);
    const answers = [
      made,
      await ask(console, 'GET', '/api/session', undefined, browser),
      await ask(console, 'GET', '/api/members'),
      await ask(console, 'GET', '/api/nowhere', undefined, browser),
      await ask(console, 'DELETE', '/api/session'),
    ];
    for (const { headers, status } of answers) {
      const policy = headers.get('content-security-policy') ?? '';
      assert.match(policy, /default-src 'none'/, String(status));
      assert.match(policy, /frame-ancestors 'none'/);
      assert.match(headers.get('cache-control') ?? '', /no-store/);
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.equal(headers.get('referrer-policy'), 'no-referrer');
      assert.equal(headers.get('access-control-allow-origin'), null);
      assert.equal(headers.get('access-control-allow-credentials'), null);
    }
    const preflight = await ask(console, 'OPTIONS', '/api/members', undefined, {
      origin: 'https://attacker.example',
      'access-control-request-method': 'POST',
    });
    assert.ok(preflight.status >= 400);
    assert.equal(preflight.headers.get('access-control-allow-origin'), null);
  });

  test('requests forged by another page (CSRF) change nothing', async (t) => {
    const gateway = await start(t);
    const console = consoleUrl(gateway);
    const browser = browserOf(await setUp(gateway));
    const { cookie } = browser;
    const forged = [
      { cookie },
      { cookie, 'x-postern-csrf': 'x' },
      { ...browser, origin: 'https://attacker.example' },
      { ...browser, 'sec-fetch-site': 'same-site' },
    ];
    for (const headers of forged) {
      const answer = await ask(console, 'PATCH', '/api/me', { name: 'Eve' }, headers);
      assert.deepEqual([answer.status, answer.json.code], [403, 'forged_request']);
    }
    // A form sends no JSON; and to sign somebody in as someone else is forged as well.
    const form = { 'content-type': 'text/plain' };
    assert.equal((await ask(console, 'POST', '/api/session', person, form)).status, 415);
    const { email } = person;
    const elsewhere = await ask(
      console,
      'POST',
      '/api/session',
      { email, password },
      { origin: 'https://attacker.example' },
    );
    assert.deepEqual([elsewhere.status, elsewhere.headers.getSetCookie()], [403, []]);
    const session = await ask(console, 'GET', '/api/session', undefined, browser);
    assert.equal(session.json.member.name, 'Ada');
  });

  test('a session cannot be fixed in advance, and is invalid after sign-out on every gateway', async (t) => {
    const directory = await createDirectory(t);
    const here = await start(t, on(directory));
    const browser = browserOf(await setUp(here));
    const there = await start(t, on(directory));
    const [one, other] = [consoleUrl(here), consoleUrl(there)];
    const planted = { cookie: `postern_session=${'A'.repeat(43)}` };
    const { email } = person;
    const signedIn = await ask(one, 'POST', '/api/session', { email, password }, planted);
    assert.equal((await ask(one, 'GET', '/api/members', undefined, planted)).status, 401);
    const next = browserOf(signedIn);
    for (const base of [one, other]) {
      assert.equal((await ask(base, 'GET', '/api/members', undefined, next)).status, 200);
      assert.equal((await ask(base, 'GET', '/api/members', undefined, browser)).status, 200);
    }
    assert.equal((await ask(one, 'DELETE', '/api/session', undefined, next)).status, 204);
    assert.equal((await ask(one, 'GET', '/api/members', undefined, next)).status, 401);
    await wait(1_000);
    assert.equal((await ask(other, 'GET', '/api/members', undefined, next)).status, 401);
    assert.equal((await ask(other, 'GET', '/api/members', undefined, browser)).status, 200);
  });

  test('password guesses are slowed down, also across gateways', async (t) => {
    const directory = await createDirectory(t);
    const here = await start(t, on(directory));
    await setUp(here);
    const there = await start(t, on(directory));
    const { email } = person;
    const guess = (gateway: GatewayProcess, secret: string) =>
      ask(consoleUrl(gateway), 'POST', '/api/session', { email, password: secret });
    // All at once, so that none of them finds that the others have failed.
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, turn) => guess(turn % 2 === 0 ? here : there, 'wrong')),
    );
    const statuses = all.map(({ status }) => status);
    assert.ok(statuses.filter((status) => status === 401).length <= 7, statuses.join());
    const refused = all.find(({ status }) => status === 429);
    assert.match(refused?.headers.get('retry-after') ?? '', /^\d+$/);
    assert.equal(refused?.json.code, 'too_many_attempts');
  });

  test('several workers print one link, which works', async (t) => {
    const gateway = await start(t, { server: { workers: 2 } });
    assert.equal(setUpTokens(gateway).length, 1);
    assert.equal((await setUp(gateway)).json.member.role, 'owner');
  });

  test("members setup-link replaces the first owner's link, and refuses once there is an owner", async (t) => {
    const gateway = await start(t);
    const [former] = setUpTokens(gateway);
    const { directory: cwd, configFile } = gateway;
    const make = () => runPostern(['members', 'setup-link', '--config', configFile, '--json'], { cwd });
    const run = await make();
    assert.equal(run.code, 0, run.stderr);
    const [, token] = JSON.parse(run.stdout).link.split('/setup#token=');
    const console = consoleUrl(gateway);
    assert.equal((await ask(console, 'POST', '/api/setup', { token: former, ...person })).status, 404);
    assert.equal((await ask(console, 'POST', '/api/setup', { token, ...person })).status, 200);
    const late = await make();
    assert.equal(late.code, 1);
    assert.match(late.stderr, /^postern: the console has an owner already; .*members reset.*\n$/);
  });

  test('an owner locked out gets in by a link from the command line, while the gateway runs', async (t) => {
    const gateway = await start(t);
    const former = browserOf(await setUp(gateway));
    const console = consoleUrl(gateway);
    const { directory: cwd, configFile } = gateway;
    const run = await runPostern(['members', 'reset', person.email, '--config', configFile, '--json'], { cwd });
    assert.equal(run.code, 0, run.stderr);
    const token = JSON.parse(run.stdout).link.split('#token=')[1];
    const next = 'another moss gate';
    assert.equal((await ask(console, 'POST', '/api/invitations/accept', { token, password: next })).status, 200);
    assert.equal((await ask(console, 'GET', '/api/members', undefined, former)).status, 401);
    const { email } = person;
    assert.equal((await ask(console, 'POST', '/api/session', { email, password: next })).status, 200);
    // Nothing of it stands in the log.
    const log = JSON.stringify(gateway.log()) + gateway.stderr();
    for (const secret of [token, next, password]) assert.equal(log.includes(secret), false);
  });
});
