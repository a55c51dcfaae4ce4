/** Passkeys (WebAuthn): registration and sign-in. The gateway stores only public keys. */

import { randomBytes } from 'node:crypto';
import type { StoredMember, StoredPasskey } from '../../core/store/members.ts';
import type { Store } from '../../core/store/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { Problem } from '../problem.ts';

/** In the browser API's form; the library validates it. */
type BrowserJson = Readonly<Record<string, unknown>>;

export type Passkeys = ReturnType<typeof createPasskeys>;

const signInPurpose = 'sign-in';
const timeoutMs = 120_000;

export function createPasskeys(store: Pick<Store, 'passkeys' | 'members'>, clock: Clock) {
  // Anyone may begin a sign-in: that must not evict challenges of members.
  const [signIns, ofMembers] = [createChallenges(clock), createChallenges(clock)];
  const adding = (member: StoredMember): string => `add ${member.id}`;
  const proving = (memberId: string): string => `prove ${memberId}`;

  /** `isOurs` consumes the challenge. */
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
    /** Browsers bind passkeys to a domain name: a console reached by an IP address has none. */
    isPossible: (consoleUrl: string) => hostOf(consoleUrl) !== undefined,

    /** The browser's options for a device to create a passkey. */
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

    /** Throws a Problem for an invalid answer of the device. */
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

    /** The member with the passkey. Throws a Problem for an invalid answer of the device. */
    signIn: (answer: BrowserJson, consoleUrl: string) =>
      findSigner(answer, consoleUrl, (challenge) => signIns.take(challenge, signInPurpose)),

    /** With one of the member's own. */
    async beginProof(memberId: string, consoleUrl: string) {
      return askToSign(ofMembers.create(proving(memberId)), consoleUrl, await store.passkeys.listOf(memberId));
    },

    /** Throws a Problem for an invalid answer of the device, or another member's passkey. */
    async prove(memberId: string, answer: BrowserJson, consoleUrl: string) {
      const member = await findSigner(answer, consoleUrl, (challenge) => ofMembers.take(challenge, proving(memberId)));
      if (member.id !== memberId) throw notFitting('is not one of yours');
      return member;
    },
  };
}

/** Loaded on demand: it is large. */
const load = () => import('@simplewebauthn/server');

/** With any passkey, or with one of those known. */
async function askToSign(challenge: string, consoleUrl: string, known?: readonly StoredPasskey[]) {
  const { generateAuthenticationOptions } = await load();
  return generateAuthenticationOptions({
    ...{ rpID: needHost(consoleUrl), challenge: toBytes(challenge), timeout: timeoutMs, userVerification: 'required' },
    ...(known !== undefined && { allowCredentials: known.map(toCredential) }),
  });
}

const toBytes = (challenge: string) => new Uint8Array(Buffer.from(challenge, 'base64url'));

const toCredential = ({ id, transports }: StoredPasskey) => ({ id, transports: [...transports] });

/** Undefined for an IP address, which no passkey can be bound to. */
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

function notFitting(why: string): Problem {
  return new Problem('sign_in_failed', { detail: `The passkey ${why}.` });
}

const goodMs = 5 * 60_000;
const mostOpen = 10_000;
const bytes = 32;

/** Challenges for devices to sign, valid for a few minutes, and once. In memory: a sign-in ends at the process where it began. */
function createChallenges(clock: Pick<Clock, 'monotonicMs'>) {
  const open = new Map<string, { readonly purpose: string; readonly atMs: number }>();

  return {
    /** For one purpose, such as a member's registration. */
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

    /** False for another purpose, a used one, or an expired one. */
    take(challenge: string, purpose: string): boolean {
      const found = open.get(challenge);
      open.delete(challenge);
      return found !== undefined && found.purpose === purpose && clock.monotonicMs() - found.atMs < goodMs;
    },
  };
}
