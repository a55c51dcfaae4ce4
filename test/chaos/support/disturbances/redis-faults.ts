/** Redis faults: killed, hanging or loading, and back with all, some or none of its data. */

import { setTimeout as wait } from 'node:timers/promises';
import type { OwnRedisServer } from '../../../support/servers/redis.ts';

/** A Redis that is started anew with the file it last saved to, or with another one. */
export interface Victim {
  readonly redis: OwnRedisServer;
  file: number;
}

const fileArgs = ({ file }: Victim): string[] => ['--dbfilename', `${file}.rdb`];

/** How it is made unavailable, and available again. Resolves when it answers. */
export interface Fault {
  readonly name: string;
  prepare?(victim: Victim): Promise<unknown>;
  go(victim: Victim, awayMs: number): Promise<void>;
  comeBack(victim: Victim): Promise<void>;
}

export const redisFaults: readonly Fault[] = [
  {
    name: 'killed, and back empty',
    go: ({ redis }) => redis.kill(),
    comeBack(victim) {
      victim.file += 1;
      return victim.redis.restart({ args: fileArgs(victim) });
    },
  },
  {
    name: 'killed, and back as it was earlier',
    prepare: ({ redis }) => redis.send('SAVE'),
    go: ({ redis }) => redis.kill(),
    comeBack: (victim) => victim.redis.restart({ args: fileArgs(victim) }),
  },
  {
    name: 'hung',
    go: async ({ redis }) => redis.pause(),
    async comeBack({ redis }) {
      redis.resume();
      await answersAgain(redis);
    },
  },
  {
    name: 'loading',
    async go(victim, awayMs) {
      // Half a millisecond each.
      await victim.redis.send('DEBUG', 'POPULATE', String(2.5 * awayMs));
      await victim.redis.send('SAVE');
      const slowly = ['--key-load-delay', '500', '--loading-process-events-interval-bytes', '1024'];
      await victim.redis.restart({ args: [...fileArgs(victim), ...slowly], isAwaited: false });
    },
    comeBack: ({ redis }) => answersAgain(redis),
  },
];

async function answersAgain(redis: OwnRedisServer): Promise<void> {
  for (;;) {
    const reply = await redis.send('PING').catch(() => undefined);
    if (reply === 'PONG') return;
    await wait(10);
  }
}
