/** Console members and their credentials in the store. Of secrets only digests are passed here. */

import type { Role } from '../role.ts';

export interface StoredMember {
  readonly id: string;
  /** In lower case; no two members share one. */
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

export interface NewMember {
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly passwordHash?: string | undefined;
  readonly oidcSubject?: string | undefined;
}

/** What is left out stays. */
export interface MemberChange {
  readonly name?: string | undefined;
  readonly role?: Role | undefined;
  readonly disabled?: boolean | undefined;
  readonly passwordHash?: string | undefined;
  readonly oidcSubject?: string | null | undefined;
}

/** Each write but `seen` is in the audit log. There is always an owner who can sign in: the last one stays as it is. */
export interface MemberStore {
  /** False until the first owner is there. */
  any(): Promise<boolean>;
  list(): Promise<StoredMember[]>;
  get(id: string): Promise<StoredMember | undefined>;
  findByEmail(email: string): Promise<StoredMember | undefined>;
  findBySubject(oidcSubject: string): Promise<StoredMember | undefined>;
  /** `taken` where the address, or the subject, belongs to somebody else. */
  create(member: NewMember, actor: string): Promise<StoredMember | 'taken'>;
  /** Another role, another password and being disabled end the member's sessions, save for the one that is named. */
  change(
    id: string,
    change: MemberChange,
    options: { readonly actor: string; readonly keepSession?: string | undefined },
  ): Promise<StoredMember | 'absent' | 'last-owner' | 'taken'>;
  /** With all that is the member's: sessions, tokens, passkeys. */
  remove(id: string, actor: string): Promise<'removed' | 'absent' | 'last-owner'>;
  seen(id: string): Promise<void>;
}

export const sessionMethods = ['password', 'passkey', 'oidc', 'link'] as const;
/** By what the member proved to be who it is. */
export type SessionMethod = (typeof sessionMethods)[number];

export interface StoredSession {
  /** For lists: nobody gets in with it. */
  readonly id: string;
  readonly memberId: string;
  readonly method: SessionMethod;
  readonly address: string;
  readonly userAgent: string;
  readonly createdAtMs: number;
  readonly seenAtMs: number;
  /** At the latest, however much it is used. */
  readonly expiresAtMs: number;
  /** When whoever uses it proved last to be its member; undefined where only the identity provider said so, whenever that was. */
  readonly provedAtMs: number | undefined;
}

interface NewSession {
  /** SHA-256 of the secret in the cookie, in lower-case hex. */
  readonly digest: string;
  readonly memberId: string;
  readonly method: SessionMethod;
  readonly address: string;
  readonly userAgent: string;
  readonly expiresAtMs: number;
  readonly provedAtMs?: number | undefined;
}

/** Sessions are no part of the audit log: signing in and out is, which whoever opens and ends them tells. */
export interface SessionStore {
  /** Undefined where there is no such member, or not any more. */
  open(session: NewSession): Promise<StoredSession | undefined>;
  /** With the member as it is now. */
  find(digest: string): Promise<{ readonly session: StoredSession; readonly member: StoredMember } | undefined>;
  seen(id: string): Promise<void>;
  /** The newest first. */
  listOf(memberId: string): Promise<StoredSession[]>;
  /** False where the member has no such session. */
  end(id: string, memberId: string): Promise<boolean>;
  /** Those that ended, or were last seen before. */
  prune(seenBeforeMs: number): Promise<void>;
}

/** A secret for programs. It may never more than its member may. */
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

interface NewToken {
  readonly digest: string;
  readonly hint: string;
  readonly memberId: string;
  readonly name: string;
  readonly role: Role;
  readonly expiresAtMs?: number | undefined;
}

export interface TokenStore {
  find(digest: string): Promise<{ readonly token: StoredToken; readonly member: StoredMember } | undefined>;
  get(id: string): Promise<StoredToken | undefined>;
  /** The newest first; those of one member, or of all. */
  list(memberId?: string): Promise<StoredToken[]>;
  /** Undefined where the member is not there any more. */
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
  /** `taken` where the credential is there already; `absent` where the member is not. */
  add(passkey: NewPasskey, actor: string): Promise<StoredPasskey | 'taken' | 'absent'>;
  /** False where the member has no such passkey. */
  rename(id: string, memberId: string, name: string, actor: string): Promise<boolean>;
  remove(id: string, memberId: string, actor: string): Promise<boolean>;
  /** False where the counter did not go up, and should have: somebody copied the authenticator. */
  used(id: string, counter: number): Promise<boolean>;
}

/** What a member gets in with beside the password: all of it ends with a reset, save for what is kept by word. */
export const memberMeans = ['tokens', 'passkeys'] as const;
export type MemberMeans = (typeof memberMeans)[number];

/** What the secret in a link is good for: becoming the first owner, becoming a member, or setting another password. */
export const invitationKinds = ['set-up', 'invitation', 'reset'] as const;
type InvitationKind = (typeof invitationKinds)[number];

export interface StoredInvitation {
  readonly id: string;
  readonly kind: InvitationKind;
  /** Undefined for the set-up: whoever has the link says it. */
  readonly email: string | undefined;
  readonly role: Role;
  /** For a reset. */
  readonly memberId: string | undefined;
  readonly invitedBy: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

export interface InvitationStore {
  /** Those that still hold, the newest first. */
  list(): Promise<StoredInvitation[]>;
  find(digest: string): Promise<StoredInvitation | undefined>;
  /** In place of a former set-up link, which is undefined where there is a member by now. */
  setUp(digest: string, expiresAtMs: number, actor: string): Promise<StoredInvitation | undefined>;
  /** In place of a former one to the same address; `taken` where a member has it. */
  invite(
    invitation: {
      readonly digest: string;
      readonly email: string;
      readonly role: Role;
      readonly expiresAtMs: number;
    },
    actor: string,
  ): Promise<StoredInvitation | 'taken'>;
  /**
   * In place of a former one; undefined where there is no such member. What is not kept ends now, and what was added meanwhile
   * with the other password.
   */
  reset(
    reset: {
      readonly digest: string;
      readonly memberId: string;
      readonly expiresAtMs: number;
      readonly kept?: readonly MemberMeans[] | undefined;
    },
    actor: string,
  ): Promise<StoredInvitation | undefined>;
  /** Once: makes the member, or sets its password and ends its sessions. Of many at once, one succeeds. */
  accept(
    digest: string,
    person: { readonly email: string; readonly name: string; readonly passwordHash: string },
  ): Promise<StoredMember | 'absent' | 'taken'>;
  /** False where there is none. */
  withdraw(id: string, actor: string): Promise<boolean>;
}

/** How often somebody tried to prove who it is, over all nodes. What was tried long ago is forgotten. */
export interface AttemptStore {
  /** 0 where it may be tried now, and is counted, in one step: many at once get no further. Else for how long to wait. */
  begin(subject: string, waitMs: (attempts: number) => number): Promise<number>;
  /** All that was counted is forgotten. */
  succeeded(subject: string): Promise<void>;
}

/** Whether what the audit log calls the writer is this member: in the console, or by a token of theirs. */
export const isMember = (actor: string, email: string): boolean =>
  actor === `console: ${email}` || (actor.startsWith('token: ') && actor.endsWith(` of ${email}`));

/** Addresses differ in more than letters, but nobody has two that differ in their case alone. */
export const foldEmail = (email: string): string => email.trim().normalize('NFC').toLowerCase();
