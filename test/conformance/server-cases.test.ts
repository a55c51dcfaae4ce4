/** The cases for real servers hold of the pretended ones, so that a real one that fails them is not as it is written down. */

import { describe, test } from 'node:test';
import { serve } from '../families/family-setup.ts';
import type { FamilyFixture } from '../families/fixture.ts';
import { serverCases } from '../servers/cases.ts';
import { isSelfHosted, serverKinds } from '../servers/real-servers.ts';
import { openServerSetup } from '../servers/server-setup.ts';

for (const kind of serverKinds().filter(({ family }) => isSelfHosted(family))) {
  describe(`simulated ${kind.family.id} server, ${kind.operation}`, () => {
    for (const [name, check] of Object.entries(serverCases[kind.operation] ?? {})) {
      test(name, async (t) => {
        const { default: fixture }: { default: FamilyFixture } = await import(`../families/${kind.family.id}.ts`);
        const { port } = await serve(t, (call) => fixture.service(call));
        const server = { ...kind, url: new URL(`http://127.0.0.1:${port}`), model: undefined, apiKey: undefined };
        await check(await openServerSetup(t, server));
      });
    }
  });
}
