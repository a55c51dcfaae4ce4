/** Registers passkeys (WebAuthn) and signs members in with them. The gateway stores only public keys. */

import { randomBytes } from 'node:crypto';
import type { StoredMember, StoredPasskey } from '../../core/store/members.ts';
import type { Store } from '../../core/store/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { Problem } from '../problem.ts';
import { signInRefused } from './sessions.ts';

/** What a device returned, in the JSON form of the browser's API; the library validates it. */
type BrowserJson = Readonly<Record<string, unknown>>;

export type Passkeys = ReturnType<typeof createPasskeys>;

const signInPurpose = 'sign-in';
const timeoutMs = 120_000;

export function createPasskeys(store: Pick<Store, 'passkeys' | 'members'>, clock: Clock) {
  // Anyone may begin a sign-in: that must not evict challenges of members.
  const [signIns, ofMembers] = [createChallenges(clock), createChallenges(clock)];
  const adding = (member: StoredMember): string => `add ${member.id}`;
  const proving = (memberId: string): string => `prove ${memberId}`;

  /** The member whose passkey signed the challenge. `isOurs` checks the challenge and makes it unusable. */
  async function findSigner(
    answer: BrowserJson,
    consoleUrl: string,
    isOurs: (challenge: string) => boolean,
  ): Promise<StoredMember> {
    const passkey = typeof answer.id === 'string' ? await store.passkeys.find(answer.id) : undefined;
    if (passkey === undefined) throw notFitting('is not known here; sign in in another way and add it in the settings');
    const { verifyAuthenticationResponse } = await load();
    const { id, publicKey, counter } = passkey;
    const verified = await verifyAuthenticationResponse({
      response: answer as unknown as Parameters<typeof verifyAuthenticationResponse>[0]['response'],
      expectedChallenge: isOurs,
      expectedOrigin: consoleUrl,
      expectedRPID: needHost(consoleUrl),
      credential: { id, publicKey: new Uint8Array(publicKey), counter },
    }).catch(() => undefined);
    if (verified?.verified !== true) throw notFitting('did not sign the challenge; try again');
    if (!(await store.passkeys.used(id, verified.authenticationInfo.newCounter))) {
      throw notFitting('may have been copied: its counter did not increase. Remove it and add it again');
    }
    const member = await store.members.get(passkey.memberId);
    if (member === undefined || member.disabledAtMs !== undefined)
      throw notFitting('belongs to no member that may sign in');
    return member;
  }

  return {
    /** Whether passkeys can be used at this URL: browsers bind them to a domain name, so not at an IP address. */
    isPossible: (consoleUrl: string) => hostOf(consoleUrl) !== undefined,

    /** Options for the browser, with which a device creates a passkey. */
    async beginAdding(member: StoredMember, consoleUrl: string) {
      const { generateRegistrationOptions } = await load();
      const known = await store.passkeys.listOf(member.id);
      return generateRegistrationOptions({
        rpName: 'Postern',
        rpID: needHost(consoleUrl),
        userID: new Uint8Array(Buffer.from(member.id)),
        userName: member.email,
        userDisplayName: member.name,
        challenge: toBytes(ofMembers.create(adding(member))),
        timeout: timeoutMs,
        excludeCredentials: known.map(toCredential),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
    },

    /** Stores a passkey that a device created. Throws a Problem where the device's answer is invalid. */
    async add(member: StoredMember, answer: BrowserJson, name: string, consoleUrl: string, actor: string) {
      const { verifyRegistrationResponse } = await load();
      const verified = await verifyRegistrationResponse({
        response: answer as unknown as Parameters<typeof verifyRegistrationResponse>[0]['response'],
        expectedChallenge: (challenge) => ofMembers.take(challenge, adding(member)),
        expectedOrigin: consoleUrl,
        expectedRPID: needHost(consoleUrl),
      }).catch(() => undefined);
      if (verified?.verified !== true) throw notFitting('was not made for this console just now');
      const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
      const added = await store.passkeys.add({ id, memberId: member.id, publicKey, counter, transports, name }, actor);
      if (added === 'taken') throw new Problem('already_there', { detail: 'This passkey is there already.' });
      if (added === 'absent') throw new Problem('not_found', { detail: 'The member no longer exists.' });
    },

    beginSignIn: (consoleUrl: string) => askToSign(signIns.create(signInPurpose), consoleUrl),

    /** The member whose passkey signed. Throws a Problem where the device's answer is invalid. */
    signIn: (answer: BrowserJson, consoleUrl: string) =>
      findSigner(answer, consoleUrl, (challenge) => signIns.take(challenge, signInPurpose)),

    /** Options for the browser to prove a member's identity again, with one of the member's own passkeys. */
    async beginProof(memberId: string, consoleUrl: string) {
      return askToSign(ofMembers.create(proving(memberId)), consoleUrl, await store.passkeys.listOf(memberId));
    },

    /** Verifies a renewed proof of identity by passkey. Throws a Problem where the device's answer is invalid, or the passkey is another member's. */
    async prove(memberId: string, answer: BrowserJson, consoleUrl: string) {
      const member = await findSigner(answer, consoleUrl, (challenge) => ofMembers.take(challenge, proving(memberId)));
      if (member.id !== memberId) throw notFitting('is not one of yours');
      return member;
    },
  };
}

/** Loads the WebAuthn library, on demand because it is large. */
const load = () => import('@simplewebauthn/server');

/** Options for the browser to sign a challenge, with any passkey, or with one of `known`. */
async function askToSign(challenge: string, consoleUrl: string, known?: readonly StoredPasskey[]) {
  const { generateAuthenticationOptions } = await load();
  return generateAuthenticationOptions({
    ...{ rpID: needHost(consoleUrl), challenge: toBytes(challenge), timeout: timeoutMs, userVerification: 'required' },
    ...(known !== undefined && { allowCredentials: known.map(toCredential) }),
  });
}

const toBytes = (challenge: string) => new Uint8Array(Buffer.from(challenge, 'base64url'));

const toCredential = ({ id, transports }: StoredPasskey) => ({ id, transports: [...transports] });

/** The domain name of the console's URL; undefined for an IP address, which no passkey can be bound to. */
function hostOf(consoleUrl: string): string | undefined {
  const host = URL.parse(consoleUrl)?.hostname ?? '';
  return host === '' || /^[\d.]+$/.test(host) || host.startsWith('[') ? undefined : host;
}

function needHost(consoleUrl: string): string {
  const host = hostOf(consoleUrl);
  if (host !== undefined) return host;
  throw new Problem('not_found', {
    detail: 'Browsers bind passkeys to a name: open the console as http://localhost with its port, or set console.url.',
  });
}

const notFitting = (why: string): Problem => signInRefused(`The passkey ${why}.`);

const goodMs = 5 * 60_000;
const mostOpen = 10_000;
const bytes = 32;

/** Keeps the challenges that devices sign, each valid once and for a few minutes; in memory, so a sign-in ends where it began. */
function createChallenges(clock: Pick<Clock, 'monotonicMs'>) {
  const open = new Map<string, { readonly purpose: string; readonly atMs: number }>();

  return {
    /** A new challenge for one purpose, such as one member's registration. */
    create(purpose: string): string {
      const nowMs = clock.monotonicMs();
      for (const [challenge, { atMs }] of open) {
        if (nowMs - atMs < goodMs && open.size < mostOpen) break;
        open.delete(challenge);
      }
      const challenge = randomBytes(bytes).toString('base64url');
      open.set(challenge, { purpose, atMs: nowMs });
      return challenge;
    },

    /** Uses a challenge up. False where it is unknown, expired, already used, or for another purpose. */
    take(challenge: string, purpose: string): boolean {
      const found = open.get(challenge);
      open.delete(challenge);
      return found !== undefined && found.purpose === purpose && clock.monotonicMs() - found.atMs < goodMs;
    },
  };
}
