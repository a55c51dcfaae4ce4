/** The key with which the console tries things out: one a host, made when first used. Its secret is in memory only. */

import type { StoredKey } from '../../core/store/keys.ts';
import type { Store } from '../../core/store/store.ts';
import { createSecret, digestOf, hintOf } from '../../lib/secrets/key-secret.ts';

const purposeName = 'postern.console';
const purpose = 'playground';
const hostName = 'postern.host';
const actor = 'console: playground';

/** One of the console's own, of whichever host. */
export const isConsoleKey = ({ metadata }: Pick<StoredKey, 'metadata'>): boolean => metadata[purposeName] === purpose;

export interface ConsoleKey {
  secret(): Promise<string>;
  /** The gateway knows this secret no more: the next one is another. */
  forget(secret: string): void;
}

export interface ConsoleKeyDeps {
  readonly store: Pick<Store, 'keys'>;
  /** Where this process runs: two hosts with one store take nothing from each other. */
  readonly host: string;
  nowMs(): number;
}

export function createConsoleKey({ store: { keys }, host, nowMs }: ConsoleKeyDeps): ConsoleKey {
  let held: Promise<string> | undefined;
  let heldSecret: string | undefined;

  async function obtain(): Promise<string> {
    const secret = createSecret();
    const fresh = { digest: digestOf(secret), hint: hintOf(secret) };
    const mine = (await keys.list()).find(isMine);
    // Nobody holds the former secret: whoever did has ended.
    const rotated = mine === undefined ? undefined : await keys.rotate(mine.id, fresh, nowMs(), actor);
    if (rotated !== undefined) return secret;
    const metadata = { [purposeName]: purpose, [hostName]: host };
    await keys.create({ ...fresh, name: `Playground (${host})`, models: ['*'], metadata }, actor);
    return secret;
  }

  /** By its metadata: people may give it another name. */
  const isMine = ({ metadata, revokedAtMs }: StoredKey): boolean =>
    revokedAtMs === undefined && metadata[purposeName] === purpose && metadata[hostName] === host;

  async function hold(): Promise<string> {
    try {
      heldSecret = await obtain();
      return heldSecret;
    } catch (error) {
      // Tried again by whoever asks next.
      held = undefined;
      throw error;
    }
  }

  return {
    secret() {
      held ??= hold();
      return held;
    },
    forget(secret) {
      if (heldSecret !== secret) return;
      held = undefined;
      heldSecret = undefined;
    },
  };
}
