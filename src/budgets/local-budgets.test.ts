import assert from 'node:assert/strict';
import { test } from 'node:test';
import { budgetOf, createBudgetNodes, holderOf } from '../../test/support/stores/budget-nodes.ts';
import { noCaps } from '../core/caps.ts';
import { GatewayError } from '../core/errors.ts';
import type { BudgetHold } from './local-budgets.ts';

const account = 'key/dev/day/2027-01-01';

function assertHeld(answer: BudgetHold | GatewayError): asserts answer is BudgetHold {
  assert.ok(!(answer instanceof GatewayError), String(answer));
}

function assertRefused(answer: BudgetHold | GatewayError, code: string): asserts answer is GatewayError {
  assert.ok(answer instanceof GatewayError);
  assert.equal(answer.code, code);
}

test('without budgets nothing is drawn from the store and a reservation is synchronous', (t) => {
  const { start, accountStore } = createBudgetNodes(t);
  const hold = start('a').reserve([{ kind: 'key', id: 'dev', caps: noCaps }], 5);
  assert.ok(!(hold instanceof Promise));
  assert.deepEqual(hold.accounts, []);
  hold.settle(5);
  assert.equal(accountStore.calls.draw, 0);
});

test('charges every budget of key, project and upstream under its own account', async (t) => {
  const { start, answerOf, accountStore } = createBudgetNodes(t, Date.UTC(2027, 0, 1, 12));
  const holders = [
    holderOf([budgetOf(100, 'day'), budgetOf(500, 'week'), budgetOf(900, 'month')]),
    holderOf([budgetOf(999, 'total')], 'project', 'a/b c'),
    { kind: 'upstream', id: 'near', caps: noCaps } as const,
  ];
  const hold = await answerOf(() => start('a').reserve(holders, 40));
  assertHeld(hold);
  assert.deepEqual(hold.accounts, [
    account,
    'key/dev/week/2026-12-28',
    'key/dev/month/2027-01-01',
    'project/a%2Fb%20c/total/1970-01-01',
  ]);
  for (const id of hold.accounts) assert.equal(accountStore.takenOf(id), 40);
});

test('a reservation from the local allowance is synchronous, and what it leaves unspent serves later requests', async (t) => {
  const { start, answerOf, accountStore } = createBudgetNodes(t);
  const budgets = start('a');
  const holders = [holderOf([budgetOf(1_000)])];
  const first = await answerOf(() => budgets.reserve(holders, 100));
  assertHeld(first);
  first.settle(0);
  const second = budgets.reserve(holders, 60);
  const third = budgets.reserve(holders, 40);
  assert.ok(!(second instanceof Promise) && !(third instanceof Promise));
  assert.ok(budgets.reserve(holders, 1) instanceof Promise);
  assert.equal(accountStore.calls.draw, 2);
});

test('settling a reservation again changes nothing', async (t) => {
  const { start, answerOf, accountStore } = createBudgetNodes(t);
  const budgets = start('a');
  const holders = [holderOf([budgetOf(100)])];
  const hold = await answerOf(() => budgets.reserve(holders, 100));
  assertHeld(hold);
  for (const cost of [40, 0, 100]) hold.settle(cost);
  assertHeld(await answerOf(() => budgets.reserve(holders, 60)));
  accountStore.book(account, 'a', 40);
  assertRefused(await answerOf(() => budgets.reserve(holders, 1)), 'budget_exceeded');
  assert.equal(accountStore.takenOf(account), 100);
});

test('cost above the reserved worst case is drawn from the store with the next request', async (t) => {
  const { start, answerOf, accountStore } = createBudgetNodes(t);
  const budgets = start('a');
  const holders = [holderOf([budgetOf(100)])];
  const hold = await answerOf(() => budgets.reserve(holders, 10));
  assertHeld(hold);
  hold.settle(30);
  assertHeld(await answerOf(() => budgets.reserve(holders, 10)));
  assert.equal(accountStore.drawnBy(account, 'a'), 40);
});

test('when one of several budgets refuses, the amounts reserved from the others are released', async (t) => {
  const { start, answerOf } = createBudgetNodes(t);
  const budgets = start('a');
  const rich = holderOf([budgetOf(100)], 'project', 'p');
  const poor = holderOf([budgetOf(20)]);
  assertRefused(await answerOf(() => budgets.reserve([rich, poor], 30)), 'budget_exceeded');
  assertRefused(await answerOf(() => budgets.reserve([poor, rich], 30)), 'budget_exceeded');
  assertHeld(await answerOf(() => budgets.reserve([rich], 100)));
});

test('a request reserves from the local allowance only once, even if it has to wait for another budget', async (t) => {
  const { start, answerOf } = createBudgetNodes(t);
  const budgets = start('a');
  const rich = holderOf([budgetOf(100)], 'project', 'p');
  const first = await answerOf(() => budgets.reserve([rich], 100));
  assertHeld(first);
  first.settle(0);
  const both = await answerOf(() => budgets.reserve([rich, holderOf([budgetOf(40)])], 30));
  assertHeld(both);
  assert.ok(!(budgets.reserve([rich], 70) instanceof Promise));
  both.settle(10);
  assert.ok(!(budgets.reserve([rich], 20) instanceof Promise));
});

test('draws from the store only what the local allowance lacks for a request', async (t) => {
  const { start, answerOf, accountStore } = createBudgetNodes(t);
  const budgets = start('a');
  const holders = [holderOf([budgetOf(1_000)])];
  const first = await answerOf(() => budgets.reserve(holders, 100));
  assertHeld(first);
  first.settle(0);
  assertHeld(await answerOf(() => budgets.reserve(holders, 160)));
  assert.equal(accountStore.takenOf(account), 160);
});

test('a refusal for a spent budget names the budget, the remaining amount, its reset time and what to do', async (t) => {
  const { start, answerOf, accountStore, calm } = createBudgetNodes(t, Date.UTC(2026, 10, 21, 23));
  const budgets = start('a');
  const ask = (period: 'day' | 'month' | 'total') => {
    const holders = [holderOf([budgetOf(10_000_000_000, period)], 'project', 'search')];
    return answerOf(async () => {
      const hold = await budgets.reserve(holders, 9_980_000_000);
      hold.settle(9_980_000_000);
      accountStore.book(hold.accounts[0] ?? '', 'a', 9_980_000_000);
      await calm();
      return budgets.reserve(holders, 50_000_000);
    });
  };
  const ofDay = await ask('day');
  assertRefused(ofDay, 'budget_exceeded');
  assert.equal(ofDay.status, 429);
  assert.equal(
    ofDay.message,
    'The budget of the project "search" for this day is $10, of which $9.98 is spent, and this request could cost up to $0.05: ' +
      'send one that can cost less (a lower "max_tokens", fewer inputs), or ask the operator for more. It begins anew at 2026-11-22T00:00Z.',
  );
  assert.deepEqual(ofDay.headers, ['x-should-retry', 'false', 'Retry-After', '3600']);
  const ofMonth = await ask('month');
  assertRefused(ofMonth, 'budget_exceeded');
  assert.deepEqual(ofMonth.headers, ['x-should-retry', 'false']);
  const inAll = await ask('total');
  assertRefused(inAll, 'budget_exceeded');
  assert.match(inAll.message, /in all is \$10.*It does not begin anew\.$/);
});

test('a spent budget refuses requests without asking the store again, until its amount is raised', async (t) => {
  const { start, answerOf, accountStore } = createBudgetNodes(t);
  const budgets = start('a');
  const hold = await answerOf(() => budgets.reserve([holderOf([budgetOf(100)])], 100));
  assertHeld(hold);
  hold.settle(100);
  accountStore.book(account, 'a', 100);
  assertRefused(await answerOf(() => budgets.reserve([holderOf([budgetOf(100)])], 10)), 'budget_exceeded');
  const before = accountStore.calls.draw;
  for (let count = 0; count < 50; count++) {
    assert.throws(() => budgets.reserve([holderOf([budgetOf(100)])], 1), {
      code: 'budget_exceeded',
      message: /could cost up to \$[\d.]+: ask the operator for more\./,
    });
  }
  assert.equal(accountStore.calls.draw, before);
  assertHeld(await answerOf(() => budgets.reserve([holderOf([budgetOf(110)])], 10)));
});

test('a request that costs nothing is served although its budget is spent, and counts at its account', async (t) => {
  const { start, answerOf, accountStore } = createBudgetNodes(t);
  const budgets = start('a');
  const holders = [holderOf([budgetOf(100)])];
  const hold = await answerOf(() => budgets.reserve(holders, 100));
  assertHeld(hold);
  hold.settle(100);
  accountStore.book(account, 'a', 100);
  assertRefused(await answerOf(() => budgets.reserve(holders, 1)), 'budget_exceeded');
  const free = budgets.reserve(holders, 0);
  assert.ok(!(free instanceof Promise));
  assert.deepEqual(free.accounts, [account]);
  free.settle(0);
});

test('many simultaneous requests are served by few draws from the store', async (t) => {
  const { start, answerOf, accountStore } = createBudgetNodes(t);
  const budgets = start('a');
  const holders = [holderOf([budgetOf(100_000)])];
  const answers = await Promise.all(Array.from({ length: 200 }, () => answerOf(() => budgets.reserve(holders, 100))));
  answers.forEach(assertHeld);
  assert.ok(accountStore.calls.draw <= 2, `${accountStore.calls.draw} draws`);
});

test('a busy budget is drawn in advance: 500 requests need fewer than 20 draws from the store', async (t) => {
  const { start, accountStore, pass, answerOf } = createBudgetNodes(t);
  const budgets = start('a');
  const holders = [holderOf([budgetOf(100_000_000)])];
  for (let count = 0; count < 500; count++) {
    const hold = await answerOf(() => budgets.reserve(holders, 100));
    assertHeld(hold);
    hold.settle(100);
    await pass(20);
  }
  assert.ok(accountStore.calls.draw < 20, `${accountStore.calls.draw} draws`);
  assert.equal(accountStore.calls.giveBack, 0);
});

for (const nodes of [1, 2, 4]) {
  test(`a budget for 10 requests admits exactly 10 of 200 simultaneous ones on each of ${nodes} nodes`, async (t) => {
    const { start, answerOf, accountStore } = createBudgetNodes(t);
    const allBudgets = Array.from({ length: nodes }, (_, index) => start(`node ${index}`));
    const holders = [holderOf([budgetOf(1_000)])];
    const answers = await Promise.all(
      allBudgets.flatMap((budgets) => Array.from({ length: 200 }, () => answerOf(() => budgets.reserve(holders, 100)))),
    );
    assert.equal(answers.filter((answer) => !(answer instanceof GatewayError)).length, 10);
    for (const answer of answers) if (answer instanceof GatewayError) assertRefused(answer, 'budget_exceeded');
    assert.equal(accountStore.takenOf(account), 1_000);
  });
}

for (const { cost, budget } of [
  { cost: 100, budget: 1_000 },
  { cost: 7, budget: 1_000 },
  { cost: 1, budget: 5_000 },
  { cost: 90, budget: 1_000_000 },
]) {
  test(`4 nodes spend a budget of ${budget} to less than 100 when each request reserves 100 and costs ${cost}`, async (t) => {
    const { start, answerOf, accountStore, pass } = createBudgetNodes(t);
    const allBudgets = Array.from({ length: 4 }, (_, index) => ({
      node: `node ${index}`,
      budgets: start(`node ${index}`),
    }));
    const holders = [holderOf([budgetOf(budget)])];
    let spent = 0;
    for (let turn = 0; ; turn++) {
      const { node, budgets } = allBudgets[turn % 4] ?? assert.fail();
      const hold = await answerOf(() => budgets.reserve(holders, 100));
      if (hold instanceof GatewayError) break;
      if (turn % 50 === 0) await pass(10);
      hold.settle(cost);
      accountStore.book(account, node, cost);
      spent += cost;
    }
    assert.ok(budget - spent < 100, `${budget - spent} is left`);
  });
}

test('a request that exceeds the unreserved rest of a budget waits and is admitted when a reservation is released', async (t) => {
  const { start, answerOf, accountStore } = createBudgetNodes(t);
  const budgets = start('a');
  const holders = [holderOf([budgetOf(100)])];
  const first = await answerOf(() => budgets.reserve(holders, 80));
  assertHeld(first);
  const second = budgets.reserve(holders, 80);
  setImmediate(() => first.settle(10));
  assertHeld(await answerOf(() => second));
  assert.ok(accountStore.takenOf(account) <= 100);
});

test('a refusal because other requests reserved the budget says so, and has a Retry-After header', async (t) => {
  const { start, answerOf } = createBudgetNodes(t);
  const holders = [holderOf([budgetOf(100)])];
  assertHeld(await answerOf(() => start('a').reserve(holders, 80)));
  const refused = await answerOf(() => start('b').reserve(holders, 80));
  assertRefused(refused, 'budget_exceeded');
  assert.match(refused.message, /reserved for requests in flight/);
  assert.deepEqual(refused.headers, ['x-should-retry', 'false', 'Retry-After', '2']);
});

test('with enough budget, a steady client never waits for the store after its first 20 requests', async (t) => {
  const { start, answerOf, pass } = createBudgetNodes(t);
  const budgets = start('a');
  const holders = [holderOf([budgetOf(100_000_000)])];
  let waited = 0;
  for (let turn = 0; turn < 400; turn++) {
    const taken = budgets.reserve(holders, 100);
    if (turn >= 20 && taken instanceof Promise) waited += 1;
    const hold = await answerOf(() => taken);
    assertHeld(hold);
    hold.settle(100);
    await pass(50);
  }
  assert.equal(waited, 0);
});

test('with the store unreachable, requests within the local allowance are admitted and others get 503', async (t) => {
  const { start, answerOf, accountStore, log, pass } = createBudgetNodes(t);
  const budgets = start('a');
  const holders = [holderOf([budgetOf(1_000)])];
  const hold = await answerOf(() => budgets.reserve(holders, 100));
  assertHeld(hold);
  hold.settle(0);
  accountStore.before = () => Promise.reject(new Error('away'));
  assertHeld(await answerOf(() => budgets.reserve(holders, 100)));
  for (let count = 0; count < 3; count++) {
    const refused = await answerOf(() => budgets.reserve(holders, 100));
    assertRefused(refused, 'store_unavailable');
    assert.equal(refused.status, 503);
    assert.deepEqual(refused.headers, ['Retry-After', '1']);
  }
  accountStore.before = async () => undefined;
  await pass(1_000);
  assertHeld(await answerOf(() => budgets.reserve(holders, 100)));
  assert.equal(log.length, 2);
});

test('a store that accepts no writes is reported in the log once', async (t) => {
  const { start, answerOf, accountStore, log, pass } = createBudgetNodes(t);
  let isReadOnly = false;
  const { draw, giveBack, renew } = accountStore;
  const refused = () => isReadOnly && Promise.reject(new Error('takes no writes'));
  accountStore.draw = async (...call) => (await refused()) || draw(...call);
  accountStore.giveBack = async (...call) => (await refused()) || giveBack(...call);
  accountStore.renew = async (node) => (await refused()) || renew(node);
  const budgets = start('a');
  const holders = [holderOf([budgetOf(1_000_000)])];
  const spend = async () => {
    const hold = await answerOf(() => budgets.reserve(holders, 100));
    assertHeld(hold);
    hold.settle(0);
  };
  await spend();
  await pass(5_000);
  isReadOnly = true;
  for (let seconds = 0; seconds < 60; seconds += 1) {
    await spend();
    await pass(1_000);
  }
  assert.deepEqual(log, ['store unreachable for budgets']);
  isReadOnly = false;
  await pass(15_000);
  assert.deepEqual(log.slice(1), ['store reachable again for budgets']);
});

test('a draw from the store that fails once or twice is repeated, and no request is refused', async (t) => {
  const { start, answerOf, accountStore } = createBudgetNodes(t);
  const budgets = start('a');
  const holders = [holderOf([budgetOf(1_000)])];
  let failures = 2;
  accountStore.before = async () => {
    failures -= 1;
    if (failures >= 0) throw new Error('away');
  };
  assertHeld(await answerOf(() => budgets.reserve(holders, 100)));
});

for (const answerMs of [100, 900, 1_100, 2_000]) {
  test(`a store that takes ${answerMs} ms to answer causes no refusal, neither for new budgets nor for used ones`, async (t) => {
    const { start, answerOf, accountStore, pass, clock } = createBudgetNodes(t);
    const budgets = start('a');
    accountStore.before = () => new Promise((resolve) => setTimeout(resolve, answerMs / 2));
    for (let turn = 0; turn < 100; turn += 1) {
      const holders = [holderOf([budgetOf(100_000)], 'key', `key ${turn % 7}`)];
      const hold = await answerOf(() => budgets.reserve(holders, 100));
      assertHeld(hold);
      hold.settle(10);
      await pass(100);
    }
    assert.ok(clock.monotonicMs() > 10_000);
  });
}

test('a budget that cannot be drawn from the store does not affect other budgets', async (t) => {
  const { start, accountStore, answerOf } = createBudgetNodes(t);
  const budgets = start('a');
  const poor = [holderOf([budgetOf(1_000)], 'key', 'poor')];
  const { draw } = accountStore;
  accountStore.draw = (account, ...rest) =>
    account.holderId === 'poor' ? Promise.reject(new Error('away')) : draw(account, ...rest);
  assertRefused(await answerOf(() => budgets.reserve(poor, 100)), 'store_unavailable');
  assertHeld(await answerOf(() => budgets.reserve([holderOf([budgetOf(1_000)], 'key', 'rich')], 100)));
});

for (const nodes of [1, 2, 4]) {
  test(`${nodes} nodes draw half of a barely used budget in equal parts, and spend it while the store is unreachable`, async (t) => {
    const { start, answerOf, accountStore, pass } = createBudgetNodes(t);
    const allBudgets = Array.from({ length: nodes }, (_, index) => ({
      node: `node ${index}`,
      budgets: start(`node ${index}`),
    }));
    const holders = [holderOf([budgetOf(100_000_000)])];
    const spend = async ({ node, budgets }: (typeof allBudgets)[number]) => {
      const hold = await answerOf(() => budgets.reserve(holders, 1_000));
      assertHeld(hold);
      hold.settle(400);
      return () => accountStore.book(account, node, 400);
    };
    for (const one of allBudgets) (await spend(one))();
    await pass(10_000);
    for (const { node } of allBudgets) {
      const part = accountStore.drawnBy(account, node) / (50_000_000 / nodes);
      assert.ok(part > 0.49 && part < 1.26, `${node} holds ${part} of its part`);
    }
    assert.ok(accountStore.takenOf(account) <= 50_000_000 + 200 * nodes, 'of what is left, half');
    accountStore.before = () => Promise.reject(new Error('away'));
    const later: (() => void)[] = [];
    for (let second = 0; second < 300; second += 1) {
      for (const one of allBudgets) for (let time = 0; time < 5; time += 1) later.push(await spend(one));
      await pass(1_000);
    }
    accountStore.before = async () => undefined;
    for (const book of later) book();
    assert.ok(accountStore.takenOf(account) <= 100_000_000);
    await pass(700_000);
    assert.equal(
      accountStore.takenOf(account),
      400 * (later.length + nodes),
      'all comes back when nobody asks any more',
    );
  });
}

test('a node without contact to the store for ten minutes stops spending its local allowance', async (t) => {
  const { start, answerOf, accountStore, pass, clock } = createBudgetNodes(t);
  const budgets = start('a');
  const holders = [holderOf([budgetOf(1_000_000)])];
  const ask = () => answerOf(() => budgets.reserve(holders, 100));
  assertHeld(await ask());
  await pass(100);
  accountStore.before = () => Promise.reject(new Error('away'));
  clock.advance(590_000);
  assertHeld(await ask());
  clock.advance(20_000);
  assertRefused(await ask(), 'store_unavailable');
  accountStore.before = async () => undefined;
  await pass(1_000);
  assertHeld(await ask());
});

test('a node that others declared dead gives up its local allowance and spends nothing that others have drawn', async (t) => {
  const { start, answerOf, accountStore, pass, log } = createBudgetNodes(t);
  const budgets = start('a');
  const holders = [holderOf([budgetOf(100_000)])];
  const first = await answerOf(() => budgets.reserve(holders, 1_000));
  assertHeld(first);
  accountStore.forget('a');
  assertHeld(await answerOf(() => start('b').reserve(holders, 98_500)));
  await pass(11_000);
  assert.ok(log.includes('node budget lease expired'));
  first.settle(400);
  accountStore.book(account, 'a', 400);
  assertRefused(await answerOf(() => budgets.reserve(holders, 1_200)), 'budget_exceeded');
  assert.ok(accountStore.takenOf(account) <= 100_000);
});

test('an unresponsive store delays a request by at most three seconds, and later requests not at all', async (t) => {
  const { start, accountStore, clock, timeOf, pass, answerOf } = createBudgetNodes(t);
  const budgets = start('a');
  const holders = [holderOf([budgetOf(1_000)])];
  const hang = Promise.withResolvers<void>();
  accountStore.before = () => hang.promise;
  const { ms, result } = await timeOf(budgets.reserve(holders, 100));
  assert.equal(result.status, 'rejected');
  assert.equal(ms, 3_000);
  const other = await timeOf(budgets.reserve(holders, 5));
  assert.equal(other.result.status, 'rejected');
  assert.equal(other.ms, 0);
  assert.ok(accountStore.calls.draw <= 1);
  // A late grant serves the next request.
  accountStore.before = async () => undefined;
  hang.resolve();
  await pass(1_000);
  const atMs = clock.monotonicMs();
  assertHeld(await answerOf(() => budgets.reserve(holders, 1_000)));
  assert.equal(clock.monotonicMs(), atMs);
});

test('an amount that is drawn after its request gave up waiting returns to the store if no request needs it', async (t) => {
  const { start, accountStore, timeOf, pass } = createBudgetNodes(t);
  const hang = Promise.withResolvers<void>();
  accountStore.before = () => hang.promise;
  await timeOf(start('a').reserve([holderOf([budgetOf(1_000)])], 100));
  hang.resolve();
  await pass(3_000);
  assert.equal(accountStore.takenOf(account), 0);
});

test('the local allowance returns to the store ten minutes after the last request, or at once on a low budget', async (t) => {
  const { start, accountStore, answerOf, pass } = createBudgetNodes(t);
  const budgets = start('a');
  const holders = [holderOf([budgetOf(100_000_000)])];
  for (let count = 0; count < 300; count++) {
    const hold = await answerOf(() => budgets.reserve(holders, 100));
    assertHeld(hold);
    hold.settle(100);
    accountStore.book(account, 'a', 100);
    await pass(10);
  }
  const spent = 30_000;
  await pass(590_000);
  assert.ok(accountStore.takenOf(account) > spent + 20_000_000, `${accountStore.takenOf(account) - spent} is kept`);
  await pass(11_000);
  assert.equal(accountStore.takenOf(account), spent);

  assertHeld(await answerOf(() => budgets.reserve(holders, 100)));
  await pass(3_000);
  assert.ok(accountStore.takenOf(account) > spent + 20_000_000);
  accountStore.book(account, 'another', 99_968_000);
  await pass(3_000);
  assert.ok(accountStore.takenOf(account) <= 99_968_000 + spent + 100, 'what was held is free for others');
});

test('a reservation settles in the period in which it was made, and its unused part returns to that period', async (t) => {
  const { start, accountStore, clock, answerOf, pass } = createBudgetNodes(t, Date.UTC(2027, 0, 1, 23, 59, 59));
  const budgets = start('a');
  const holders = [holderOf([budgetOf(100)])];
  const old = await answerOf(() => budgets.reserve(holders, 100));
  assertHeld(old);
  clock.advance(2_000);
  const next = await answerOf(() => budgets.reserve(holders, 100));
  assertHeld(next);
  assert.deepEqual(next.accounts, ['key/dev/day/2027-01-02']);
  old.settle(30);
  await pass(200);
  assert.equal(accountStore.takenOf(account), 30);
  assert.equal(accountStore.takenOf('key/dev/day/2027-01-02'), 100);
});

test("lowering a budget's amount returns the local allowance to the store", async (t) => {
  const { start, accountStore, answerOf, pass } = createBudgetNodes(t);
  const budgets = start('a');
  const hold = await answerOf(() => budgets.reserve([holderOf([budgetOf(100_000)])], 1_000));
  assertHeld(hold);
  hold.settle(0);
  budgets.reserve([holderOf([budgetOf(50)])], 0);
  await pass(50);
  assert.equal(accountStore.takenOf(account), 0);
  assertRefused(await answerOf(() => budgets.reserve([holderOf([budgetOf(50)])], 51)), 'budget_exceeded');
});

test('a node that shuts down returns its unreserved allowance to the store', async (t) => {
  const { start, accountStore, answerOf, timeOf } = createBudgetNodes(t);
  const budgets = start('a');
  const holders = [holderOf([budgetOf(1_000)])];
  const hold = await answerOf(() => budgets.reserve(holders, 100));
  assertHeld(hold);
  hold.settle(30);
  assertHeld(await answerOf(() => budgets.reserve(holders, 50)));
  await timeOf(budgets.close());
  assert.equal(accountStore.takenOf(account), 80);
});

test('a node that shuts down does not ask an unreachable store again', async (t) => {
  const { start, accountStore, answerOf, pass, timeOf } = createBudgetNodes(t);
  const budgets = start('a');
  const hold = await answerOf(() => budgets.reserve([holderOf([budgetOf(1_000)])], 500));
  assertHeld(hold);
  hold.settle(0);
  let asked = 0;
  accountStore.before = async () => {
    asked += 1;
    throw new Error('away');
  };
  for (let n = 0; n < 200 && asked === 0; n += 1) await pass(10);
  const before = asked;
  assert.ok(before > 0);
  await timeOf(budgets.close());
  assert.equal(asked, before);
});

test('no amount is returned to an unreachable store, and it is returned once the store answers', async (t) => {
  const { start, accountStore, answerOf, pass } = createBudgetNodes(t);
  const budgets = start('a');
  const holders = [holderOf([budgetOf(1_000)])];
  const hold = await answerOf(() => budgets.reserve(holders, 500));
  assertHeld(hold);
  accountStore.before = () => Promise.reject(new Error('away'));
  assertRefused(await answerOf(() => budgets.reserve(holders, 100)), 'store_unavailable');
  hold.settle(0);
  await pass(5_000);
  assert.equal(accountStore.calls.giveBack, 0);
  accountStore.before = async () => undefined;
  await pass(1_000);
  assert.equal(accountStore.takenOf(account), 0);
});

test('alerts are raised as spending passes thresholds, and at 100 % when the rest is too small for a request', async (t) => {
  const { start, accountStore, answerOf, reached } = createBudgetNodes(t);
  const budgets = start('a');
  const holders = [holderOf([budgetOf(1_000, 'day', [50, 80, 100])])];
  const spend = async (nanos: number) => {
    const hold = await answerOf(() => budgets.reserve(holders, nanos));
    assertHeld(hold);
    hold.settle(nanos);
    accountStore.book(account, 'a', nanos);
  };
  await spend(499);
  assert.deepEqual(reached, []);
  await spend(1);
  assert.deepEqual(reached, [`${account} 50% 500`]);
  await spend(470);
  assert.deepEqual(reached.slice(1), [`${account} 80% 970`]);
  assertRefused(await answerOf(() => budgets.reserve(holders, 31)), 'budget_exceeded');
  assertRefused(await answerOf(() => budgets.reserve(holders, 31)), 'budget_exceeded');
  assert.deepEqual(reached.slice(2), [`${account} 100% 970`]);
});

test("changing a budget's amount allows all of its thresholds to be reported again", async (t) => {
  const { start, accountStore, answerOf, reached } = createBudgetNodes(t);
  const budgets = start('a');
  const spend = async (nanos: number, ofNanos: number) => {
    const hold = await answerOf(() => budgets.reserve([holderOf([budgetOf(ofNanos, 'day', [10, 50])])], nanos));
    assertHeld(hold);
    hold.settle(nanos);
    accountStore.book(account, 'a', nanos);
  };
  await spend(100, 1_000);
  await spend(100, 2_000);
  assert.deepEqual(reached, [`${account} 10% 100`, `${account} 10% 200`]);
});

test('a node that used up its allowance asks the store once for what other nodes spent of the budget', async (t) => {
  const { start, accountStore, answerOf, reached, pass } = createBudgetNodes(t);
  const hold = await answerOf(() => start('a').reserve([holderOf([budgetOf(10, 'day', [100])])], 9));
  assertHeld(hold);
  hold.settle(9);
  await pass(1_000);
  accountStore.book(account, 'a', 9);
  accountStore.book(account, 'b', 1);
  const { draw, state } = accountStore.calls;
  await pass(30_000);
  assert.deepEqual(
    [accountStore.calls.draw - draw, accountStore.calls.state - state, reached],
    [0, 1, [`${account} 100% 10`]],
  );
});

test("a threshold passed by other nodes' spending is reported at the latest when this node is idle", async (t) => {
  const { start, accountStore, answerOf, reached, pass } = createBudgetNodes(t);
  const hold = await answerOf(() => start('a').reserve([holderOf([budgetOf(1_000, 'day', [50])])], 10));
  assertHeld(hold);
  hold.settle(10);
  accountStore.book(account, 'b', 600);
  await pass(12_000);
  assert.deepEqual(reached, [`${account} 50% 600`]);
});

test('a request that began before midnight is charged to the budget of the day on which it began', async (t) => {
  const midnight = Date.UTC(2027, 0, 2);
  const { start, answerOf, accountStore, clock } = createBudgetNodes(t, midnight - 1);
  const budgets = start('a');
  const holders = [holderOf([budgetOf(100, 'day')])];
  const before = await answerOf(() => budgets.reserve(holders, 10, midnight - 1));
  clock.advance(2);
  const late = await answerOf(() => budgets.reserve(holders, 10, midnight - 1));
  const after = await answerOf(() => budgets.reserve(holders, 10, midnight));
  for (const hold of [before, late, after]) assertHeld(hold);
  assert.deepEqual(
    [before, late, after].map((hold) => hold instanceof GatewayError || hold.accounts),
    [['key/dev/day/2027-01-01'], ['key/dev/day/2027-01-01'], ['key/dev/day/2027-01-02']],
  );
  assert.ok(accountStore.takenOf('key/dev/day/2027-01-01') >= 20);
});
