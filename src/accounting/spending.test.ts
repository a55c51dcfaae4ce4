import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toKeyRecord } from '../../test/support/gateways/keys.ts';
import { headersIn } from '../../test/support/limits/rate-lines.ts';
import { createFakeClock } from '../../test/support/time/fake-clock.ts';
import { toUpstream } from '../../test/support/upstreams/upstream.ts';
import type { BudgetHold, Budgets } from '../budgets/local-budgets.ts';
import type { Bill, Price, RequestEstimate } from '../core/accounting/price.ts';
import type { Denial, Reservation } from '../core/accounting/spending.ts';
import { type Caps, type Holder, noCaps, type Rate } from '../core/caps.ts';
import type { RoutePlan } from '../core/dispatch.ts';
import { GatewayError } from '../core/errors.ts';
import { Exchange } from '../core/exchange.ts';
import type { Project } from '../core/key.ts';
import type { Model, Snapshot, Target, Upstream } from '../core/snapshot.ts';
import type { Limiter } from '../limits/limiter.ts';
import { MemoryLimiter } from '../limits/local-limiter.ts';
import { createSpending } from './spending.ts';

const estimate: RequestEstimate = {
  items: 3,
  images: 0,
  likelyInputTokens: 40,
  mostInputTokens: 160,
  mostOutputTokens: 50,
  mostSearchUnits: 2,
  isStream: false,
};
const bill: Bill = {
  inputTokens: 33,
  cachedTokens: 0,
  outputTokens: 0,
  searchUnits: 0,
  items: 3,
  images: 0,
  isEstimated: true,
  costNanos: 700,
};

const requestsAMinute = (most: number): Rate => ({ measure: 'requests', window: 'minute', most });
const tokensAMinute = (most: number): Rate => ({ measure: 'tokens', window: 'minute', most });
const itemsAMinute = (most: number): Rate => ({ measure: 'items', window: 'minute', most });
const caps = (parts: Partial<Caps>): Caps => ({ ...noCaps, ...parts });
const budget: Partial<Caps> = { budgets: [{ period: 'month', nanos: 1_000_000, alerts: [] }] };
const priceOf = (input: number): Price => ({ input }) as Price;

/** Records reservations and settlements; refuses on request. */
class FakeBudgets implements Budgets {
  readonly taken: string[] = [];
  readonly settled: string[] = [];
  refusal: GatewayError | undefined = undefined;
  isSlow = false;

  reserve(holders: readonly Holder[], nanos: number): BudgetHold | Promise<BudgetHold> {
    if (this.refusal !== undefined && this.isSlow) return Promise.reject(this.refusal);
    if (this.refusal !== undefined) throw this.refusal;
    const names = holders.map(({ kind, id }) => `${kind}/${id}`);
    this.taken.push(`${names} ${nanos}`);
    const hold: BudgetHold = {
      accounts: names,
      settle: (costNanos) => {
        this.settled.push(`${names} ${costNanos}`);
      },
    };
    return this.isSlow ? Promise.resolve(hold) : hold;
  }
}

interface Parts {
  readonly key?: Partial<Caps>;
  readonly project?: Partial<Caps>;
  readonly model?: Partial<Caps>;
  readonly upstreams?: readonly Partial<Caps>[];
  readonly limiter?: Limiter;
  readonly asks?: Partial<RequestEstimate>;
}

interface Stage {
  readonly fakeBudgets: FakeBudgets;
  readonly upstreams: readonly Upstream[];
  readonly clock: ReturnType<typeof createFakeClock>;
  reserve(): Reservation | Promise<Reservation>;
  /** Returns no promise. */
  reserveNow(): Reservation;
  /** Of an exchange that began before; refused where the key has as many as it may. */
  beginAndReserve(): Reservation | Promise<Reservation>;
  settle(reservation: Reservation, parts?: Partial<Pick<Exchange, 'usage' | 'bill'>>, at?: Upstream): void;
}

function stage({ key = {}, project, model = {}, upstreams = [{}], limiter, asks = {} }: Parts): Stage {
  const clock = createFakeClock();
  const fakeBudgets = new FakeBudgets();
  const spending = createSpending({
    limiter: limiter ?? new MemoryLimiter(clock),
    budgets: fakeBudgets,
    worstCost: (price, { mostInputTokens }) => (price?.input ?? 0) * mostInputTokens,
  });
  const record = toKeyRecord({ id: 'dev', caps: caps(key), project: project === undefined ? undefined : 'team' });
  const projects = new Map<string, Project>();
  if (project !== undefined) {
    projects.set('team', { id: 'team', managedBy: 'file', name: undefined, caps: caps(project) });
  }
  const them = upstreams.map((parts, index) => toUpstream('http://h', { id: `up ${index}`, caps: caps(parts) }));
  const targets = them.map((upstream, index) => ({ upstream, price: priceOf(index + 1) }) as Target);
  const one = { id: 'm', caps: caps(model), targets } as unknown as Model;
  const tiers = targets.map((target) => [{ target, offer: { path: '/' }, lifted: false }]);
  const routePlan: RoutePlan = { model: one, tiers, totalMs: 1, alone: false, replayable: true };
  const makeExchange = (): Exchange => {
    const exchange = new Exchange('id', undefined, { projects } as unknown as Snapshot, 0, 0);
    exchange.key = record;
    return exchange;
  };
  const reserve = (): Reservation | Promise<Reservation> =>
    spending.reserve(makeExchange(), routePlan, { ...estimate, ...asks });
  return {
    fakeBudgets,
    upstreams: them,
    clock,
    reserve,
    reserveNow() {
      const reservation = reserve();
      assert.ok(!(reservation instanceof Promise));
      return reservation;
    },
    beginAndReserve() {
      const exchange = makeExchange();
      exchange.begun = spending.begin(record);
      return spending.reserve(exchange, routePlan, { ...estimate, ...asks });
    },
    settle(reservation, parts = {}, at) {
      const exchange = makeExchange();
      Object.assign(exchange, parts);
      exchange.target = targets.find(({ upstream }) => upstream === at);
      reservation.settle(exchange);
    },
  };
}

const remaining = ({ rateLines }: Reservation, measure: string): string | undefined =>
  new RegExp(`^x-ratelimit-remaining-${measure}: (.*)$`, 'm').exec(rateLines)?.[1];

function refusalOf(attempt: () => unknown): GatewayError {
  try {
    attempt();
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    return error;
  }
  assert.fail('it was not refused');
}

test('without limits and budgets nothing is counted or reported, but the worst-case cost is still computed', () => {
  const { reserveNow, settle, upstreams } = stage({});
  const reservation = reserveNow();
  assert.ok(reservation.nanos > 0);
  assert.equal(reservation.rateLines, '');
  assert.deepEqual(reservation.accounts, []);
  const [upstream] = upstreams;
  assert.ok(upstream);
  assert.equal(reservation.enter(upstream), undefined);
  settle(reservation, { bill });
});

test('counts a request against the limits of key, project and model, and reports the lowest remaining amount', () => {
  const { reserveNow } = stage({
    key: { rates: [requestsAMinute(10)] },
    project: { rates: [tokensAMinute(100)] },
    model: { rates: [itemsAMinute(9), requestsAMinute(4)] },
  });
  assert.deepEqual(headersIn({ lines: () => reserveNow().rateLines }), [
    ...['x-ratelimit-limit-requests', '4', 'x-ratelimit-remaining-requests', '3', 'x-ratelimit-reset-requests', '1m1s'],
    ...['x-ratelimit-limit-tokens', '100', 'x-ratelimit-remaining-tokens', '60', 'x-ratelimit-reset-tokens', '1m1s'],
    ...['x-ratelimit-limit-items', '9', 'x-ratelimit-remaining-items', '6', 'x-ratelimit-reset-items', '1m1s'],
  ]);
  reserveNow();
  const refused = refusalOf(reserveNow);
  assert.equal(refused.code, 'rate_limit_exceeded');
  assert.equal(
    refused.message,
    'The limit of 100 tokens a minute of the project "team" is reached; try again in 60 s.',
  );
  assert.deepEqual(refused.headers.slice(0, 2), ['Retry-After', '60']);
  assert.ok(refused.headers.includes('x-ratelimit-remaining-requests'));
});

test('a request larger than a limit is refused as not retryable', () => {
  const refused = refusalOf(stage({ key: { rates: [itemsAMinute(2)] } }).reserveNow);
  assert.deepEqual(refused.headers.slice(0, 2), ['x-should-retry', 'false']);
  assert.ok(!refused.headers.includes('Retry-After'));
  assert.match(refused.message, /asks for 3 items at once.*2 items a minute of the key "dev".*split/);
});

test("replaces estimated tokens by the upstream's count, else by the billed count", () => {
  const { reserveNow, settle } = stage({ key: { rates: [tokensAMinute(1_000)] } });
  const nothing = { completionTokens: null, searchUnits: null };
  assert.equal(remaining(reserveNow(), 'tokens'), '960');
  settle(reserveNow(), { bill, usage: { ...nothing, promptTokens: null, totalTokens: 100 } });
  assert.equal(remaining(reserveNow(), 'tokens'), String(1_000 - 40 - 100 - 40));
  settle(reserveNow(), { bill, usage: { ...nothing, promptTokens: 7, completionTokens: 3, totalTokens: null } });
  settle(reserveNow(), { bill, usage: null });
  assert.equal(remaining(reserveNow(), 'tokens'), String(1_000 - 180 - 10 - 33 - 40));
});

test('an unbilled request returns all that it reserved, but still counts as a request', () => {
  const { reserveNow, settle, fakeBudgets } = stage({
    key: { rates: [tokensAMinute(50), itemsAMinute(4), requestsAMinute(9)], concurrency: 1, ...budget },
  });
  settle(reserveNow());
  settle(reserveNow());
  assert.equal(remaining(reserveNow(), 'requests'), '6');
  assert.deepEqual(fakeBudgets.settled, ['key/dev 0', 'key/dev 0']);
});

test('reserves the worst-case cost over all targets from all budgets, and settles the actual cost', () => {
  const { reserveNow, settle, fakeBudgets } = stage({
    key: budget,
    project: { ...budget, rates: [requestsAMinute(9)] },
    upstreams: [{}, {}],
  });
  const reservation = reserveNow();
  assert.equal(reservation.nanos, 320);
  assert.deepEqual(reservation.accounts, ['key/dev', 'project/team']);
  assert.deepEqual(fakeBudgets.taken, ['key/dev,project/team 320']);
  settle(reservation, { bill });
  settle(reservation, { bill });
  assert.deepEqual(fakeBudgets.settled, ['key/dev,project/team 700']);
});

for (const isSlow of [false, true]) {
  test(`when a budget refuses ${isSlow ? 'later' : 'at once'}, the request's reserved rate limits are released`, async () => {
    const { reserve, reserveNow, fakeBudgets } = stage({
      key: { ...budget, rates: [requestsAMinute(3), tokensAMinute(100)], concurrency: 1 },
    });
    fakeBudgets.isSlow = isSlow;
    fakeBudgets.refusal = new GatewayError('budget_exceeded');
    for (let i = 0; i < 5; i += 1) await assert.rejects(async () => reserve(), { code: 'budget_exceeded' });
    fakeBudgets.refusal = undefined;
    fakeBudgets.isSlow = false;
    const reservation = reserveNow();
    assert.equal(remaining(reservation, 'requests'), '2');
    assert.equal(remaining(reservation, 'tokens'), '60');
  });
}

test('refuses a request of unbounded cost, naming its parameter, only if a budget applies', () => {
  const asks = { unbounded: 'image_url' };
  for (const parts of [{ key: budget }, { project: budget }, { upstreams: [{}, budget] }]) {
    const { reserveNow, fakeBudgets } = stage({ ...parts, asks });
    const { code, param } = refusalOf(reserveNow);
    assert.deepEqual([code, param], ['unsupported_parameter', 'image_url']);
    assert.deepEqual(fakeBudgets.taken, []);
  }
  stage({ key: { rates: [] }, asks }).reserveNow();
  stage({ asks }).reserveNow();
});

test('waits for a limiter and for budgets that answer asynchronously', async () => {
  const memory = new MemoryLimiter(createFakeClock());
  const limiter: Limiter = {
    begin: (holders) => memory.begin(holders),
    reserve: async (holders, amounts) => memory.reserve(holders, amounts),
  };
  const { reserve, settle, fakeBudgets, upstreams } = stage({
    key: { ...budget, rates: [requestsAMinute(2)] },
    upstreams: [{ ...budget, rates: [requestsAMinute(1)] }],
    limiter,
  });
  fakeBudgets.isSlow = true;
  const [upstream] = upstreams;
  assert.ok(upstream);
  const reservation = await reserve();
  assert.equal(await reservation.enter(upstream), undefined);
  const denial = await (await reserve()).enter(upstream);
  assert.equal(denial?.limit, '1 request a minute of the upstream "up 0"');
  await assert.rejects(async () => reserve(), { code: 'rate_limit_exceeded' });
  settle(reservation, { bill }, upstream);
  assert.deepEqual(fakeBudgets.settled, ['key/dev 700', 'upstream/up 0 700']);
});

test('counts a request at each upstream that it calls, but charges tokens only at the one that answered', () => {
  const limits = { rates: [tokensAMinute(100), requestsAMinute(5)], concurrency: 1, ...budget };
  const { reserveNow, settle, fakeBudgets, upstreams } = stage({ upstreams: [limits, limits] });
  const [first, second] = upstreams;
  assert.ok(first && second);
  const reservation = reserveNow();
  assert.equal(reservation.enter(first), undefined);
  assert.equal(reservation.enter(second), undefined);
  assert.deepEqual(reservation.accounts, ['upstream/up 0', 'upstream/up 1']);
  const denied = reserveNow().enter(second) as Denial;
  assert.equal(denied.limit, '1 request at a time of the upstream "up 1"');
  settle(reservation, { bill: { ...bill, inputTokens: 90 } }, second);
  assert.deepEqual(fakeBudgets.taken, ['upstream/up 0 160', 'upstream/up 1 320']);
  assert.deepEqual(fakeBudgets.settled, ['upstream/up 0 0', 'upstream/up 1 700']);
  assert.deepEqual(reservation.accounts, ['upstream/up 1']);
  assert.equal(reserveNow().enter(first), undefined);
  const late = reserveNow().enter(second) as Denial;
  assert.equal(late.limit, '100 tokens a minute of the upstream "up 1"');
  assert.equal(late.retryAfterMs, 60_000);
});

test("a call to an upstream whose budget is spent is refused, and the upstream's limits are released", () => {
  const { reserveNow, fakeBudgets, upstreams } = stage({ upstreams: [{ ...budget, rates: [requestsAMinute(1)] }] });
  const [upstream] = upstreams;
  assert.ok(upstream);
  const error = new GatewayError('budget_exceeded', { headers: ['Retry-After', '7'] });
  fakeBudgets.refusal = error;
  const denial = reserveNow().enter(upstream);
  assert.deepEqual(denial, { limit: 'what may be spent at the upstream "up 0"', retryAfterMs: 7_000, error });
  fakeBudgets.refusal = undefined;
  assert.equal(reserveNow().enter(upstream), undefined);
});

test('a call to an upstream whose budget cannot be read is refused, but not reported as a spent budget', () => {
  const { reserveNow, fakeBudgets, upstreams } = stage({ upstreams: [budget] });
  const [upstream] = upstreams;
  assert.ok(upstream);
  const error = new GatewayError('store_unavailable', { headers: ['Retry-After', '1'] });
  fakeBudgets.refusal = error;
  const denial = reserveNow().enter(upstream);
  assert.deepEqual(denial, { limit: 'what may be spent at the upstream "up 0"', retryAfterMs: 1_000, error });
});

test('releases an upstream reservation that is granted after the request ended', async () => {
  const { reserve, settle, fakeBudgets, upstreams } = stage({ upstreams: [{ ...budget, concurrency: 1 }] });
  const [upstream] = upstreams;
  assert.ok(upstream);
  fakeBudgets.isSlow = true;
  const reservation = await reserve();
  const entered = reservation.enter(upstream);
  settle(reservation);
  await entered;
  assert.deepEqual(fakeBudgets.settled, ['upstream/up 0 0']);
  fakeBudgets.isSlow = false;
  assert.equal((await reserve()).enter(upstream), undefined);
});

test('refuses a key whose project is unknown, because its limits and budgets cannot be applied', () => {
  const { fakeBudgets } = stage({});
  const spending = createSpending({
    limiter: new MemoryLimiter(createFakeClock()),
    budgets: fakeBudgets,
    worstCost: () => 1,
  });
  const model = { id: 'm', caps: caps({}), targets: [] } as unknown as Model;
  const routePlan: RoutePlan = { model, tiers: [], totalMs: 1, alone: false, replayable: true };
  const exchange = new Exchange('id', undefined, { projects: new Map() } as unknown as Snapshot, 0, 0);
  exchange.key = toKeyRecord({ project: 'gone' });
  assert.throws(
    () => spending.reserve(exchange, routePlan, estimate),
    (error) => error instanceof GatewayError && error.code === 'store_unavailable' && /"gone"/.test(error.message),
  );
  exchange.key = toKeyRecord({ project: undefined });
  assert.ok(spending.reserve(exchange, routePlan, estimate));
});

test("a changed limit of a project applies from the project's next request", () => {
  const clock = createFakeClock();
  const spending = createSpending({
    limiter: new MemoryLimiter(clock),
    budgets: new FakeBudgets(),
    worstCost: () => 0,
  });
  const model = { id: 'm', caps: noCaps, targets: [] } as unknown as Model;
  const routePlan: RoutePlan = { model, tiers: [], totalMs: 1, alone: false, replayable: true };
  const key = toKeyRecord({ project: 'team' });
  const reserve = (most: number | undefined): unknown => {
    const project: Project = {
      id: 'team',
      managedBy: 'store',
      name: undefined,
      caps: caps(most === undefined ? {} : { rates: [requestsAMinute(most)] }),
    };
    const projects = new Map([['team', project]]);
    const exchange = new Exchange('id', undefined, { projects } as unknown as Snapshot, 0, 0);
    exchange.key = key;
    return spending.reserve(exchange, routePlan, estimate);
  };
  reserve(1);
  assert.equal(refusalOf(() => reserve(1)).code, 'rate_limit_exceeded');
  reserve(2);
  reserve(undefined);
  assert.equal(refusalOf(() => reserve(1)).code, 'rate_limit_exceeded');
});

test("a request that waits for its budget counts once against its key's concurrency limit", async () => {
  const { fakeBudgets, beginAndReserve } = stage({ key: { ...budget, concurrency: 3 } });
  fakeBudgets.isSlow = true;
  const reserved = [beginAndReserve(), beginAndReserve(), beginAndReserve()];
  assert.equal(refusalOf(beginAndReserve).code, 'rate_limit_exceeded');
  await Promise.all(reserved);
});
