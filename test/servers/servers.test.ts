import { after, describe, test } from 'node:test';
import type { Scope } from '../support/gateways/rig.ts';
import { serverCases } from './cases.ts';
import { isSelfHosted, serverAt, serverKinds } from './real-servers.ts';
import { openServerSetup, type ServerSetup } from './server-setup.ts';

for (const kind of serverKinds()) {
  const { family, operation, variable } = kind;
  const cases = Object.entries(serverCases[operation] ?? {});
  const server = serverAt(kind, process.env);
  if (cases.length === 0 || (server === undefined && !isSelfHosted(family))) continue;
  describe(`real ${family.id} server, ${operation}`, {
    skip: server === undefined && `no address: set ${variable}`,
  }, () => {
    const closings: (() => unknown)[] = [];
    const whole: Scope = { after: (close) => closings.push(close) };
    after(async () => {
      for (const close of closings.toReversed()) await close();
    });
    let setup: Promise<ServerSetup> | undefined;
    for (const [name, check] of cases) {
      test(name, async () => {
        if (server === undefined) return;
        setup ??= openServerSetup(whole, server);
        await check(await setup);
      });
    }
  });
}
