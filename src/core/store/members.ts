/** Console members and their credentials in the store. Of secrets only digests are passed here. */

import type { Role } from '../role.ts';

export interface StoredMember {
  readonly id: string;
  /** In lower case, and unique. */
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  /** With its parameters and its salt; undefined where the member signs in otherwise. */
  readonly passwordHash: string | undefined;
  /** Issuer and subject of an identity provider. */
  readonly oidcSubject: string | undefined;
  readonly passkeys: number;
  readonly createdAtMs: number;
  readonly lastSeenAtMs: number | undefined;
  /** Since when the member cannot sign in. */
  readonly disabledAtMs: number | undefined;
}

export type NewMember = Pick<StoredMember, 'email' | 'name' | 'role'> &
  Partial<Pick<StoredMember, 'passwordHash' | 'oidcSubject'>>;

/** Fields that are left out stay. */
export interface MemberChange {
  readonly name?: string | undefined;
  readonly role?: Role | undefined;
  readonly disabled?: boolean | undefined;
  readonly passwordHash?: string | undefined;
  readonly oidcSubject?: string | null | undefined;
}

/** Each write but `seen` is in the audit log. The last owner who can sign in can be neither removed nor demoted. */
export interface MemberStore {
  /** False until the first owner exists. */
  any(): Promise<boolean>;
  list(): Promise<StoredMember[]>;
  get(id: string): Promise<StoredMember | undefined>;
  findByEmail(email: string): Promise<StoredMember | undefined>;
  findBySubject(oidcSubject: string): Promise<StoredMember | undefined>;
  /** `taken` where another member has the address or the subject. */
  create(member: NewMember, actor: string): Promise<StoredMember | 'taken'>;
  /** A changed role or password, or disabling, ends the member's sessions, except the named one. */
  change(
    id: string,
    change: MemberChange,
    options: { readonly actor: string; readonly keepSession?: string | undefined },
  ): Promise<StoredMember | 'absent' | 'last-owner' | 'taken'>;
  /** With the member's sessions, tokens and passkeys. */
  remove(id: string, actor: string): Promise<'removed' | 'absent' | 'last-owner'>;
  seen(id: string): Promise<void>;
}

export const sessionMethods = ['password', 'passkey', 'oidc', 'link'] as const;
export type SessionMethod = (typeof sessionMethods)[number];

export interface StoredSession {
  /** For lists: not a secret. */
  readonly id: string;
  readonly memberId: string;
  readonly method: SessionMethod;
  readonly address: string;
  readonly userAgent: string;
  readonly createdAtMs: number;
  readonly seenAtMs: number;
  /** At the latest, however much it is used. */
  readonly expiresAtMs: number;
  /** The last re-authentication; undefined where only the identity provider vouched, whenever that was. */
  readonly provedAtMs: number | undefined;
}

/** `digest`: SHA-256 of the secret in the cookie, in lower-case hex. */
type NewSession = Omit<StoredSession, 'id' | 'createdAtMs' | 'seenAtMs' | 'provedAtMs'> &
  Partial<Pick<StoredSession, 'provedAtMs'>> & { readonly digest: string };

/** Sessions are not in the audit log; sign-in and sign-out are, by their callers. */
export interface SessionStore {
  /** Undefined where there is no such member. */
  open(session: NewSession): Promise<StoredSession | undefined>;
  /** With the member's present state. */
  find(digest: string): Promise<{ readonly session: StoredSession; readonly member: StoredMember } | undefined>;
  seen(id: string): Promise<void>;
  /** The newest first. */
  listOf(memberId: string): Promise<StoredSession[]>;
  /** False where the member has no such session. */
  end(id: string, memberId: string): Promise<boolean>;
  /** Deletes those that ended, or were last seen before. */
  prune(seenBeforeMs: number): Promise<void>;
}

/** A secret for programs, with at most its member's permissions. */
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
  /** The newest first; of one member, or of all. */
  list(memberId?: string): Promise<StoredToken[]>;
  /** Undefined where the member no longer exists. */
  create(token: NewToken, actor: string): Promise<StoredToken | undefined>;
  /** False where there is no such token. */
  revoke(id: string, actor: string): Promise<boolean>;
  used(id: string): Promise<void>;
}

export interface StoredPasskey {
  /** The credential's own ID, base64url. */
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
  /** `taken` where the credential is registered already; `absent` where there is no such member. */
  add(passkey: NewPasskey, actor: string): Promise<StoredPasskey | 'taken' | 'absent'>;
  /** False where the member has no such passkey. */
  rename(id: string, memberId: string, name: string, actor: string): Promise<boolean>;
  remove(id: string, memberId: string, actor: string): Promise<boolean>;
  /** False where the counter should have risen and did not: the authenticator was copied. */
  used(id: string, counter: number): Promise<boolean>;
}

/** Credentials beside the password: a reset ends them all, except those named to be kept. */
export const memberMeans = ['tokens', 'passkeys'] as const;
export type MemberMeans = (typeof memberMeans)[number];

/** What a link's secret permits: becoming the first owner, becoming a member, or setting a new password. */
export const invitationKinds = ['set-up', 'invitation', 'reset'] as const;
type InvitationKind = (typeof invitationKinds)[number];

export interface StoredInvitation {
  readonly id: string;
  readonly kind: InvitationKind;
  /** Undefined for the set-up: the person with the link enters it. */
  readonly email: string | undefined;
  readonly role: Role;
  /** For a reset. */
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
  /** Valid ones, the newest first. */
  list(): Promise<StoredInvitation[]>;
  find(digest: string): Promise<StoredInvitation | undefined>;
  /** Replaces a former set-up link; undefined where a member exists already. */
  setUp(digest: string, expiresAtMs: number, actor: string): Promise<StoredInvitation | undefined>;
  /** Replaces a former one to the same address; `taken` where a member has it. */
  invite(
    link: NewLink & { readonly email: string; readonly role: Role },
    actor: string,
  ): Promise<StoredInvitation | 'taken'>;
  /** Replaces a former one; undefined for an unknown member. What is not kept ends now, and again when the new password is set. */
  reset(
    link: NewLink & { readonly memberId: string; readonly kept?: readonly MemberMeans[] | undefined },
    actor: string,
  ): Promise<StoredInvitation | undefined>;
  /** Once: creates the member, or sets the password and ends the sessions. Of several callers at once, one succeeds. */
  accept(
    digest: string,
    person: { readonly email: string; readonly name: string; readonly passwordHash: string },
  ): Promise<StoredMember | 'absent' | 'taken'>;
  /** False where there is none. */
  withdraw(id: string, actor: string): Promise<boolean>;
}

/** Authentication attempts over all nodes. Old ones are forgotten. */
export interface AttemptStore {
  /** 0 where an attempt is allowed, which is counted in the same step, so that parallel attempts gain nothing. Else how long to wait. */
  begin(subject: string, waitMs: (attempts: number) => number): Promise<number>;
  succeeded(subject: string): Promise<void>;
}

/** Whether the audit log's actor is this member: in the console, or by one of their tokens. */
export const isMember = (actor: string, email: string): boolean =>
  actor === `console: ${email}` || (actor.startsWith('token: ') && actor.endsWith(` of ${email}`));

/** Addresses that differ in case only belong to one person. */
export const foldEmail = (email: string): string => email.trim().normalize('NFC').toLowerCase();
