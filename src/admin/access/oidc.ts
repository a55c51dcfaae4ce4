/** Signs people in through the team's identity provider (OpenID Connect, code flow with PKCE), and finds or creates their member. */

import type { ClientAuth, IDToken } from 'openid-client';
import * as z from 'zod';
import { type Role, roles } from '../../core/role.ts';
import type { OidcSettings } from '../../core/snapshot.ts';
import { foldEmail, type StoredMember } from '../../core/store/members.ts';
import type { Store } from '../../core/store/store.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { Problem } from '../problem.ts';
import { signInRefused } from './sessions.ts';

export interface OidcPerson {
  /** The provider's issuer and subject, which never change for a person. */
  readonly subject: string;
  readonly email: string;
  readonly name: string;
  /** The role that the provider's groups map to; undefined where they map to none. */
  readonly role: Role | undefined;
  /** When the person last authenticated at the provider; undefined where it does not report that. */
  readonly authenticatedAtMs: number | undefined;
}

/** The state of a sign-in, which the browser keeps during the redirect. */
export const oidcMemo = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** The page of the console to return to. */
  page: z.string(),
  /** The member and session for a re-authentication; undefined for a sign-in. */
  proves: z.object({ memberId: z.string(), sessionId: z.string() }).optional(),
});
export type OidcMemo = z.output<typeof oidcMemo>;
export type OidcProver = NonNullable<OidcMemo['proves']>;

const timeoutS = 10;
/** The provider's metadata and keys are refreshed after this time. */
const freshMs = 10 * 60_000;

export function createOidcFlow(settings: OidcSettings, nowMs: () => number) {
  let known: { readonly atMs: number; readonly provider: ReturnType<typeof discover> } | undefined;
  /** Claims that are read from the userinfo endpoint where the ID token lacks them, as many providers do. */
  const wanted = ['email'];
  if (!settings.trust_email) wanted.push('email_verified');
  if (roles.some((role) => settings.roles[role].length > 0)) wanted.push(settings.role_claim);

  function findProvider(): ReturnType<typeof discover> {
    if (known === undefined || nowMs() - known.atMs > freshMs) {
      known = { atMs: nowMs(), provider: discover(settings) };
      // The next request may retry.
      known.provider.catch(() => {
        known = undefined;
      });
    }
    return known.provider;
  }

  return {
    /** Begins a sign-in: the redirect URL, and the state that the browser keeps. With `proves` the provider must ask the person again. */
    async begin(callbackUrl: string, page: string, proves?: OidcProver) {
      const { client, configuration } = await findProvider();
      const memo: OidcMemo = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
        page,
        ...(proves !== undefined && { proves }),
      };
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: callbackUrl,
        scope: settings.scopes.join(' '),
        state: memo.state,
        nonce: memo.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(memo.verifier),
        code_challenge_method: 'S256',
        ...(proves !== undefined && { max_age: '0' }),
      });
      return { url: url.href, memo };
    },

    /** Completes the sign-in at the callback's URL, and returns the person. Throws a Problem that says what failed. */
    async end(url: URL, memo: OidcMemo) {
      const { client, configuration } = await findProvider();
      try {
        const tokens = await client.authorizationCodeGrant(configuration, url, {
          expectedState: memo.state,
          expectedNonce: memo.nonce,
          pkceCodeVerifier: memo.verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (claims === undefined) throw failed('the identity provider sent no ID token');
        const { userinfo_endpoint: userinfo } = configuration.serverMetadata();
        const isWhole = userinfo === undefined || wanted.every((name) => claimIn(claims, name) !== undefined);
        const more = isWhole ? {} : await client.fetchUserInfo(configuration, tokens.access_token, claims.sub);
        return toPerson(claims, { ...claims, ...more }, settings);
      } catch (error) {
        if (error instanceof Problem) throw error;
        throw failed(`the identity provider did not confirm it (${codeOf(error)})`);
      }
    },
  };
}

/** Reads the provider's metadata. The library is loaded on demand, because most gateways never need it. */
async function discover({ issuer, client_id: clientId, client_secret: clientSecret }: OidcSettings) {
  const client = await import('openid-client');
  const url = new URL(issuer);
  // The configuration permits plain http:// on this machine only.
  const insecure = url.protocol === 'http:' ? [client.allowInsecureRequests] : [];
  // Signatures are checked as well, and not only the connection.
  const options = { execute: [...insecure, client.enableNonRepudiationChecks], timeout: timeoutS };
  // A provider that names no method takes the standard's default: basic authentication.
  const proof: ClientAuth = (server, ...call) => {
    const isInForm = server.token_endpoint_auth_methods_supported?.includes('client_secret_post') === true;
    return (isInForm ? client.ClientSecretPost() : client.ClientSecretBasic())(server, ...call);
  };
  try {
    const auth = clientSecret === undefined ? undefined : proof;
    return { client, configuration: await client.discovery(url, clientId, clientSecret, auth, options) };
  } catch (error) {
    throw new Problem('upstream_failed', {
      detail: `The identity provider at ${issuer} does not answer as expected (${codeOf(error)}); try again, sign in another way, or tell your operator.`,
    });
  }
}

type Claims = Readonly<Record<string, unknown>>;

function toPerson({ iss, sub, auth_time: authenticatedAtS }: IDToken, all: Claims, settings: OidcSettings): OidcPerson {
  const { email, name } = all;
  if (typeof email !== 'string' || !email.includes('@')) {
    throw failed('the identity provider did not send your e-mail address (it needs the scope and the claim "email")');
  }
  // An unverified address may be somebody else's. Without a statement of the provider, it counts only if the operator configured that.
  if (all.email_verified !== true && !settings.trust_email) {
    throw failed('the identity provider has not verified your e-mail address');
  }
  return {
    subject: `${iss} ${sub}`,
    email,
    name: typeof name === 'string' && name.trim() !== '' ? name.trim().slice(0, 100) : email,
    role: roleOf(all, settings),
    authenticatedAtMs: typeof authenticatedAtS === 'number' ? authenticatedAtS * 1_000 : undefined,
  };
}

/** The highest of the roles that the person's groups map to. */
function roleOf(claims: Claims, settings: OidcSettings): Role | undefined {
  const groups = new Set([claimIn(claims, settings.role_claim)].flat());
  return roles.findLast((role) => settings.roles[role].some((group) => groups.has(group)));
}

/** A claim by its name, which may contain dots, or else by its path, such as `realm_access.roles` of Keycloak. */
function claimIn(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) value = isMapping(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  return value;
}

const failed = (why: string): Problem => refused(`${why}. Try again, or ask your operator`);

/** An error's code for people. The library's message is not used, because it may contain parts of a token. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code, error: said } = error as Error & { readonly code?: unknown; readonly error?: unknown };
  const word = typeof said === 'string' ? said : code;
  return typeof word === 'string' ? word.replace(/[^\w.-]/g, '').slice(0, 60) : error.name;
}

type Members = Pick<Store, 'members' | 'invitations'>;

const actor = 'identity provider';

/** The person's member, linked or created where necessary. Throws a Problem where the person has no access. */
export async function admitPerson(person: OidcPerson, settings: OidcSettings, store: Members): Promise<StoredMember> {
  const known = (await store.members.findBySubject(person.subject)) ?? (await linkByEmail(person, store));
  const member = known === undefined ? await join(person, settings, store) : await follow(known, person, store);
  if (member.disabledAtMs === undefined) return member;
  throw refused('this member was disabled; ask an owner of this console');
}

/** Whether the person at the provider is this member; creates and changes nothing. */
export async function isPerson(
  { subject, email }: OidcPerson,
  memberId: string,
  { members }: Members,
): Promise<boolean> {
  const known = (await members.findBySubject(subject)) ?? (await members.findByEmail(foldEmail(email)));
  return known?.id === memberId;
}

/** Links a member, who signed in with a password until now, to the person with the same e-mail address. */
async function linkByEmail({ email, subject }: OidcPerson, { members }: Members): Promise<StoredMember | undefined> {
  const found = await members.findByEmail(foldEmail(email));
  if (found === undefined) return undefined;
  if (found.oidcSubject !== undefined) {
    throw refused('your e-mail address belongs to a member with another account at the identity provider');
  }
  const linked = await members.change(found.id, { oidcSubject: subject }, { actor });
  return typeof linked === 'string' ? undefined : linked;
}

/** Gives the member the role that its groups map to, if any, at each sign-in; the last owner keeps its role. */
async function follow(member: StoredMember, { role }: OidcPerson, { members }: Members): Promise<StoredMember> {
  if (role === undefined || role === member.role || member.disabledAtMs !== undefined) return member;
  const changed = await members.change(member.id, { role }, { actor });
  return typeof changed === 'string' ? member : changed;
}

async function join(person: OidcPerson, settings: OidcSettings, store: Members): Promise<StoredMember> {
  const email = foldEmail(person.email);
  const invitation = (await store.invitations.list()).find((one) => one.kind === 'invitation' && one.email === email);
  const role: Role | undefined = person.role ?? invitation?.role ?? settings.default_role;
  if (role === undefined) throw refused('nobody has invited you yet; ask an owner of this console');
  if (role !== 'owner' && !(await store.members.any())) {
    throw refused('there is no owner yet; use the set-up link ("postern members setup-link" creates one)');
  }
  const { name, subject } = person;
  const member = await store.members.create({ email, name, role, oidcSubject: subject }, actor);
  // A parallel sign-in was first.
  if (member === 'taken') throw refused('somebody signed in with your e-mail address just now; try again');
  if (invitation !== undefined) await store.invitations.withdraw(invitation.id, actor);
  return member;
}

const refused = (why: string): Problem => signInRefused(`You are not signed in: ${why}.`);

export type OidcSignIn = ReturnType<typeof createOidcSignIn>;

/** Returns a function that gives the identity provider of the configuration in force, if there is one. */
export function createOidcSignIn(settings: () => OidcSettings | undefined, nowMs: () => number) {
  let made: { readonly settings: OidcSettings; readonly flow: ReturnType<typeof createOidcFlow> } | undefined;
  return {
    current() {
      const wanted = settings();
      if (wanted === undefined) return undefined;
      // A reload creates new settings, mostly equal ones.
      if (made === undefined || JSON.stringify(made.settings) !== JSON.stringify(wanted)) {
        made = { settings: wanted, flow: createOidcFlow(wanted, nowMs) };
      }
      return made;
    },
  };
}
