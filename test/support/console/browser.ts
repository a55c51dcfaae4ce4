/** The console in a real browser over a real gateway: sign-in, checks for errors on every page, and screenshots. */

import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, describe, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import type { Role } from '../../../src/core/role.ts';
import { buildConsole } from '../../../tools/build-console.ts';
import { type GatewayProcess, standardStore, startGatewayProcess } from '../gateways/gateway-process.ts';
import { usePostgres, whyNoPostgres } from '../servers/postgres.ts';
import { patientMs } from '../time/patience.ts';
import { useChromium, whyNoChromium } from './chromium.ts';
import { type Account, type Accounts, createAccounts } from './console-accounts.ts';

const artifacts = fileURLToPath(new URL('../../artifacts/console/', import.meta.url));
const wide = { width: 1280, height: 800 };
const phone = { width: 375, height: 812 };
/** For what a page shows: a whole machine may be busy with other tests. */
const patienceMs = patientMs(10_000);
const pollMs = 30;
/** As the browser runs it. */
const isSettled = `document.querySelector('[aria-busy="true"]') === null && document.querySelector('h1, h2') !== null`;
/** Colours fade into each other; what turns for ever is left out. */
const isStill = `document.getAnimations().every((one) => one.playState !== 'running' || one.effect?.getTiming().iterations === Infinity)`;

export interface ConsoleOptions {
  /** URL of the store; SQLite in the gateway's own directory where it is left out. */
  readonly store?: string;
  /** Beside store, console and keys. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  /** False where the same pages are looked at in another test: neither pictures nor accessibility. */
  readonly looks?: boolean;
}

/** A test, or a whole file of them. */
export interface Lasting {
  after(end: () => unknown): void;
}

export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Opens a page of the console, and waits until it shows what it loaded. */
  open(path: string): Promise<void>;
  /** What a test provokes is no fault: matched against the text of the fault. */
  allow(pattern: RegExp): void;
  /** Waits until the expression, which the browser evaluates, is true. */
  until(expression: string): Promise<void>;
  /** Pictures in light, in dark and on a phone: `test/artifacts/console/<name>-light.png` and so on. Fails where a phone would scroll sideways. */
  shoot(name: string): Promise<void>;
  /** In light and in dark: nothing serious, nothing critical. */
  checkAccessibility(): Promise<void>;
}

export interface ConsoleRig {
  readonly gateway: GatewayProcess;
  /** Of the console, such as `http://127.0.0.1:40123`. */
  readonly url: string;
  /** From the file that the first start names. */
  readonly setUpLink: string;
  /** A separate browser profile, signed out. */
  visit(): Promise<Visitor>;
  /** The same, signed in; the first sign-in of a role creates its member. */
  signIn(role?: Role): Promise<Visitor>;
  /** The same, signed in long ago. */
  signInStale(role?: Role): Promise<Visitor>;
  account(role?: Role): Promise<Account>;
  /** The admin API as that member; the answer's JSON. Fails where it is no success. */
  ask(method: string, path: string, body?: unknown, role?: Role): Promise<ReturnType<typeof JSON.parse>>;
}

/** Builds the console first where its sources changed; POSTERN_TEST_CONSOLE=as-built takes it as it is. */
export async function openConsole(
  t: TestContext,
  { looks = true, ...options }: ConsoleOptions = {},
): Promise<ConsoleRig> {
  const console = await startConsole(options);
  return toRig(t, console, looks, console.gateway.stop);
}

/**
 * A gateway for tests of a file that do not disturb each other, started by the first of them: each has visitors of its own, and gives what it makes
 * names of its own.
 */
export function shareConsole(
  make: (file: Lasting) => Promise<Omit<ConsoleOptions, 'looks'>>,
): (t: TestContext, options?: Pick<ConsoleOptions, 'looks'>) => Promise<ConsoleRig> {
  const ends: (() => unknown)[] = [];
  let started: Promise<StartedConsole> | undefined;
  after(async () => {
    await (await started)?.gateway.stop();
    for (const end of ends) await end();
  });
  return async (t, { looks = true } = {}) => {
    started ??= make({ after: (end) => void ends.push(end) }).then(startConsole);
    return toRig(t, await started, looks);
  };
}

interface StartedConsole extends Pick<ConsoleRig, 'gateway' | 'url' | 'setUpLink'> {
  readonly accounts: Accounts;
}

async function startConsole({ store, config = {}, env = {} }: ConsoleOptions): Promise<StartedConsole> {
  if (process.env.POSTERN_TEST_CONSOLE !== 'as-built') await buildConsole();
  const gateway = await startGatewayProcess({
    config: { ...(store === undefined ? {} : { store }), ...config },
    env,
  });
  const url = consoleUrlOf(gateway);
  const setUpLink = await setUpLinkOf(gateway);
  const accounts = createAccounts({ url, store: store ?? standardStore, cwd: gateway.directory });
  return { gateway, url, setUpLink, accounts };
}

function toRig(
  t: TestContext,
  { gateway, url, setUpLink, accounts }: StartedConsole,
  looks: boolean,
  end?: () => Promise<unknown>,
): ConsoleRig {
  const visits: Visit[] = [];
  t.after(async () => {
    // An open page would notice that its gateway stopped.
    for (const visit of visits) await visit.context.close();
    await end?.();
    for (const { faults } of visits) assert.deepEqual(faults(), [], 'the browser saw faults');
  });

  async function visit(): Promise<Visitor> {
    const browser = await useChromium();
    const context = await browser.newContext({
      viewport: wide,
      baseURL: url,
      reducedMotion: 'reduce',
      locale: 'en-US',
    });
    const visit = await beginVisit(context, url, looks);
    visits.push(visit);
    return visit;
  }

  async function visitWith(cookies: Account['cookies']): Promise<Visitor> {
    const visitor = await visit();
    await visitor.context.addCookies(cookies.map((cookie) => ({ ...cookie, url })));
    return visitor;
  }

  return {
    gateway,
    url,
    setUpLink,
    visit,
    account: (role = 'owner') => accounts.get(role),
    signIn: async (role = 'owner') => visitWith((await accounts.get(role)).cookies),
    signInStale: async (role = 'owner') => visitWith(await (await accounts.get(role)).openStale()),
    ask: async (method, path, body, role = 'owner') => (await accounts.get(role)).ask(method, path, body),
  };
}

type Run = (
  t: TestContext,
  open: (options?: Omit<ConsoleOptions, 'store' | 'looks'>) => Promise<ConsoleRig>,
) => Promise<void>;

/** A test that is run over SQLite and over PostgreSQL. */
export function testOnEachStore(name: string, run: Run): void {
  testInBrowser(name, (t) => run(t, (options) => openConsole(t, options)));
  describe('on PostgreSQL', { skip: whyNoChromium || whyNoPostgres }, () => {
    const server = usePostgres();
    test(name, (t) =>
      run(t, async (options) => openConsole(t, { ...options, store: await server().createDatabase(), looks: false })),
    );
  });
}

/** Skipped without Chromium, unless CI is set: then it fails, and names what to install. */
export function testInBrowser(name: string, run: (t: TestContext) => Promise<void>): void {
  test(name, { skip: whyNoChromium }, run);
}

interface Visit extends Visitor {
  /** Those that no test provoked. */
  faults(): readonly string[];
}

/** Chromium drops what it loads when another test gives the machine a network interface. */
const ofMachine = /net::ERR_NETWORK_CHANGED/;

async function beginVisit(context: BrowserContext, url: string, looks: boolean): Promise<Visit> {
  const page = await context.newPage();
  page.setDefaultTimeout(patienceMs);
  const faults: string[] = [];
  const allowed: RegExp[] = [];
  let isDropped = false;
  // A breach of the policy is an error of the console as well.
  page.on('console', (message) => {
    if (message.type() !== 'error') return;
    if (ofMachine.test(message.text())) isDropped = true;
    else faults.push(`console: ${message.text()} (${message.location().url})`);
  });
  page.on('pageerror', (error) => faults.push(`page: ${error.stack ?? error.message}`));
  context.on('request', (request) => {
    const asked = new URL(request.url());
    if (asked.protocol !== 'data:' && asked.protocol !== 'blob:' && asked.origin !== url) {
      faults.push(`request to another origin: ${request.url()}`);
    }
  });
  /** Evaluated from outside: the page's policy forbids evaluating text within it. */
  async function until(expression: string, isOver = () => false): Promise<void> {
    const deadlineMs = performance.now() + patienceMs;
    while (!isOver() && !(await page.evaluate(expression).catch(isLeaving))) {
      if (performance.now() > deadlineMs) throw new Error(`it did not become true on ${page.url()}: ${expression}`);
      await wait(pollMs);
    }
  }

  async function settle(): Promise<void> {
    await until(isSettled);
    await page.evaluate('document.fonts.ready.then(() => undefined)');
  }

  /** Where the member has not chosen another: the console shows what the system does. */
  async function show(colorScheme: 'light' | 'dark'): Promise<void> {
    await page.emulateMedia({ colorScheme });
    await until(isStill);
  }

  return {
    page,
    context,
    faults: () => faults.filter((fault) => !allowed.some((pattern) => pattern.test(fault))),
    allow: (pattern) => void allowed.push(pattern),
    until,
    async open(path) {
      // The page itself loads a dropped part again, but not one that was dropped before its own code ran.
      do {
        isDropped = false;
        await page.goto(path).catch((error: unknown) => {
          if (!ofMachine.test(String(error))) throw error;
          isDropped = true;
        });
        await until(isSettled, () => isDropped);
      } while (isDropped);
      await settle();
    },
    async shoot(name) {
      await settle();
      if (!looks) return;
      await mkdir(artifacts, { recursive: true });
      const before = page.viewportSize() ?? wide;
      for (const colorScheme of ['light', 'dark'] as const) {
        await show(colorScheme);
        await page.screenshot({
          path: join(artifacts, `${name}-${colorScheme}.png`),
          fullPage: true,
          animations: 'disabled',
        });
      }
      await show('light');
      await page.setViewportSize(phone);
      await page.screenshot({ path: join(artifacts, `${name}-phone.png`), fullPage: true, animations: 'disabled' });
      const overWidth = Number(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'));
      await page.setViewportSize(before);
      assert.ok(overWidth <= 0, `${name}: the page scrolls sideways by ${overWidth} px on a phone`);
    },
    async checkAccessibility() {
      await settle();
      if (!looks) return;
      for (const colorScheme of ['light', 'dark'] as const) {
        await show(colorScheme);
        const findings = await seriousFindings(page, colorScheme === 'light' ? everything : coloursAlone);
        assert.deepEqual(findings, [], `accessibility in ${colorScheme} on ${page.url()}`);
      }
      await show('light');
    },
  };
}

/** The page went on to another one meanwhile: false, as nothing is true there yet. */
function isLeaving(error: unknown): false {
  if (error instanceof Error && /context was destroyed|navigat/i.test(error.message)) return false;
  throw error;
}

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

const everything = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** What differs from one theme to the other. */
const coloursAlone = ['color-contrast', 'link-in-text-block'];

async function seriousFindings(page: Page, runOnly: readonly string[]): Promise<string[]> {
  // By the debugger, which the page's policy does not bind: no script element is added to it.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(await readFile(axePath, 'utf8'));
  const { violations }: AxeResults = await page.evaluate(
    `axe.run(document, { preload: false, resultTypes: ['violations'], runOnly: ${JSON.stringify(runOnly)} })`,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id} (${help}): ${html.slice(0, 200)} ${failureSummary ?? ''}`),
    );
}

function consoleUrlOf(gateway: GatewayProcess): string {
  const url = gateway.log().find((line) => line.msg === 'listening')?.console;
  if (typeof url !== 'string') throw new Error('the gateway says of no console');
  return url;
}

async function setUpLinkOf(gateway: GatewayProcess): Promise<string> {
  const file = /^ {2}(\/.+\/setup-link)$/m.exec(gateway.stdout())?.[1];
  if (file === undefined) throw new Error(`the first start named no set-up link:\n${gateway.stdout().slice(-2000)}`);
  return (await readFile(file, 'utf8')).trim();
}
