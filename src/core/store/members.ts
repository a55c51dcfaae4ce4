/** Interface to store console members and how they sign in: sessions, tokens, passkeys, invitations. Secrets are passed as digests only. */

import type { Role } from '../role.ts';

export interface StoredMember {
  readonly id: string;
  /** Email address in lower case; unique. */
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  /** The password's hash with parameters and salt; undefined where the member has no password. */
  readonly passwordHash: string | undefined;
  /** Issuer and subject by which an identity provider knows the member. */
  readonly oidcSubject: string | undefined;
  readonly passkeys: number;
  readonly createdAtMs: number;
  readonly lastSeenAtMs: number | undefined;
  readonly disabledAtMs: number | undefined;
}

export type NewMember = Pick<StoredMember, 'email' | 'name' | 'role'> &
  Partial<Pick<StoredMember, 'passwordHash' | 'oidcSubject'>>;

export interface MemberChange {
  readonly name?: string | undefined;
  readonly role?: Role | undefined;
  readonly disabled?: boolean | undefined;
  readonly passwordHash?: string | undefined;
  readonly oidcSubject?: string | null | undefined;
}

/** Stores members; each write but `seen` is in the audit log. The last owner who can sign in can be neither removed nor demoted. */
export interface MemberStore {
  /** Whether any member exists; false until the first owner is created. */
  any(): Promise<boolean>;
  list(): Promise<StoredMember[]>;
  get(id: string): Promise<StoredMember | undefined>;
  findByEmail(email: string): Promise<StoredMember | undefined>;
  findBySubject(oidcSubject: string): Promise<StoredMember | undefined>;
  /** Creates a member; `taken` where another one has the address or the subject. */
  create(member: NewMember, actor: string): Promise<StoredMember | 'taken'>;
  /** Changes a member. A new role or password, or disabling, ends the member's sessions, except the named one. */
  change(
    id: string,
    change: MemberChange,
    options: { readonly actor: string; readonly keepSession?: string | undefined },
  ): Promise<StoredMember | 'absent' | 'last-owner' | 'taken'>;
  /** Removes a member with all sessions, tokens and passkeys. */
  remove(id: string, actor: string): Promise<'removed' | 'absent' | 'last-owner'>;
  seen(id: string): Promise<void>;
}

export const sessionMethods = ['password', 'passkey', 'oidc', 'link'] as const;
export type SessionMethod = (typeof sessionMethods)[number];

export interface StoredSession {
  /** The session's ID for lists; it is not a secret. */
  readonly id: string;
  readonly memberId: string;
  readonly method: SessionMethod;
  readonly address: string;
  readonly userAgent: string;
  readonly createdAtMs: number;
  readonly seenAtMs: number;
  /** Latest end of the session, however much it is used. */
  readonly expiresAtMs: number;
  /** Time of the last re-authentication; undefined where only the identity provider vouched, whenever that was. */
  readonly provedAtMs: number | undefined;
}

/** `digest`: SHA-256 of the secret in the cookie, in lower-case hex. */
type NewSession = Omit<StoredSession, 'id' | 'createdAtMs' | 'seenAtMs' | 'provedAtMs'> &
  Partial<Pick<StoredSession, 'provedAtMs'>> & { readonly digest: string };

/** Stores sessions. They are not in the audit log; the callers record sign-in and sign-out there. */
export interface SessionStore {
  open(session: NewSession): Promise<StoredSession | undefined>;
  /** Finds a session by its digest, with the member's present state. */
  find(digest: string): Promise<{ readonly session: StoredSession; readonly member: StoredMember } | undefined>;
  seen(id: string): Promise<void>;
  listOf(memberId: string): Promise<StoredSession[]>;
  end(id: string, memberId: string): Promise<boolean>;
  /** Deletes sessions that ended, or were last seen before. */
  prune(seenBeforeMs: number): Promise<void>;
}

/** A secret for programs, which have at most the member's permissions. */
export interface StoredToken {
  readonly id: string;
  readonly memberId: string;
  readonly name: string;
  readonly hint: string;
  readonly role: Role;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | undefined;
  readonly lastUsedAtMs: number | undefined;
  readonly revokedAtMs: number | undefined;
}

type NewToken = Pick<StoredToken, 'hint' | 'memberId' | 'name' | 'role'> &
  Partial<Pick<StoredToken, 'expiresAtMs'>> & { readonly digest: string };

export interface TokenStore {
  find(digest: string): Promise<{ readonly token: StoredToken; readonly member: StoredMember } | undefined>;
  get(id: string): Promise<StoredToken | undefined>;
  /** Tokens, the newest first; of one member, or of all. */
  list(memberId?: string): Promise<StoredToken[]>;
  create(token: NewToken, actor: string): Promise<StoredToken | undefined>;
  revoke(id: string, actor: string): Promise<boolean>;
  used(id: string): Promise<void>;
}

export interface StoredPasskey {
  /** The ID that the authenticator gave the credential, in base64url. */
  readonly id: string;
  readonly memberId: string;
  readonly publicKey: Uint8Array;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly name: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | undefined;
}

type NewPasskey = Omit<StoredPasskey, 'createdAtMs' | 'lastUsedAtMs'>;

export interface PasskeyStore {
  find(id: string): Promise<StoredPasskey | undefined>;
  listOf(memberId: string): Promise<StoredPasskey[]>;
  /** Adds a passkey; `taken` where the credential is registered already, `absent` where there is no such member. */
  add(passkey: NewPasskey, actor: string): Promise<StoredPasskey | 'taken' | 'absent'>;
  rename(id: string, memberId: string, name: string, actor: string): Promise<boolean>;
  remove(id: string, memberId: string, actor: string): Promise<boolean>;
  /** Records a use. False where the counter should have risen and did not: the authenticator was copied. */
  used(id: string, counter: number): Promise<boolean>;
}

/** Ways to sign in beside the password: a password reset removes them, except those named to be kept. */
export const memberMeans = ['tokens', 'passkeys'] as const;
export type MemberMeans = (typeof memberMeans)[number];

/** What a link's secret permits: becoming the first owner, becoming a member, or setting a new password. */
export const invitationKinds = ['set-up', 'invitation', 'reset'] as const;
type InvitationKind = (typeof invitationKinds)[number];

export interface StoredInvitation {
  readonly id: string;
  readonly kind: InvitationKind;
  /** Email address; undefined for the set-up, where the person with the link enters it. */
  readonly email: string | undefined;
  readonly role: Role;
  /** The member whose password a reset link sets. */
  readonly memberId: string | undefined;
  readonly invitedBy: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

interface NewLink {
  readonly digest: string;
  readonly expiresAtMs: number;
}

export interface InvitationStore {
  /** Valid invitations, the newest first. */
  list(): Promise<StoredInvitation[]>;
  find(digest: string): Promise<StoredInvitation | undefined>;
  /** Creates the set-up link and replaces a former one; undefined where a member exists already. */
  setUp(digest: string, expiresAtMs: number, actor: string): Promise<StoredInvitation | undefined>;
  /** Invites an address and replaces a former invitation to it; `taken` where a member has the address. */
  invite(
    link: NewLink & { readonly email: string; readonly role: Role },
    actor: string,
  ): Promise<StoredInvitation | 'taken'>;
  /** Creates a reset link, replacing a former one; undefined for an unknown member. What is not kept ends now, and again at the new password. */
  reset(
    link: NewLink & { readonly memberId: string; readonly kept?: readonly MemberMeans[] | undefined },
    actor: string,
  ): Promise<StoredInvitation | undefined>;
  /** Uses a link once: creates the member, or sets the password and ends the sessions. Of several callers at once, one succeeds. */
  accept(
    digest: string,
    person: { readonly email: string; readonly name: string; readonly passwordHash: string },
  ): Promise<StoredMember | 'absent' | 'taken'>;
  withdraw(id: string, actor: string): Promise<boolean>;
}

/** Counts authentication attempts over all nodes; old ones are forgotten. */
export interface AttemptStore {
  /** Returns 0 where an attempt is allowed, and counts it in the same step, so that parallel attempts gain nothing; else how long to wait. */
  begin(subject: string, waitMs: (attempts: number) => number): Promise<number>;
  succeeded(subject: string): Promise<void>;
}

/** Whether an actor in the audit log is this member: in the console, or through one of the member's tokens. */
export const isMember = (actor: string, email: string): boolean =>
  actor === `console: ${email}` || (actor.startsWith('token: ') && actor.endsWith(` of ${email}`));

/** Normalises an email address: addresses that differ in case only belong to one person. */
export const foldEmail = (email: string): string => email.trim().normalize('NFC').toLowerCase();
