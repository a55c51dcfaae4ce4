/** Creates one-time links. Their secret is in the URL fragment, which no server or log sees. */

import { randomBytes } from 'node:crypto';
import type { Role } from '../../core/role.ts';
import type { InvitationStore, MemberMeans, StoredInvitation } from '../../core/store/members.ts';
import type { Clock } from '../../lib/clock.ts';
import { digestOf } from '../../lib/secrets/key-secret.ts';

export interface MadeLink {
  readonly link: string;
  readonly invitation: StoredInvitation;
}

const dayMs = 24 * 60 * 60_000;
const secretBytes = 32;

export function createLinks(invitations: InvitationStore, clock: Pick<Clock, 'nowMs'>) {
  /** Creates a link, whose digest `store` keeps. If `store` refuses, there is no link, and the result is its reason or undefined. */
  async function create<Refusal extends string | undefined>(
    page: string,
    days: number,
    store: (link: { readonly digest: string; readonly expiresAtMs: number }) => Promise<StoredInvitation | Refusal>,
  ): Promise<MadeLink | Refusal> {
    const secret = randomBytes(secretBytes).toString('base64url');
    const invitation = await store({ digest: digestOf(secret), expiresAtMs: clock.nowMs() + days * dayMs });
    return typeof invitation === 'object' ? { link: `${page}#token=${secret}`, invitation } : invitation;
  }

  return {
    /** A link that creates the first owner; undefined where there is a member already. It replaces an earlier link. */
    setUp: (base: string, actor: string) =>
      create(`${base}/setup`, 1, ({ digest, expiresAtMs }) => invitations.setUp(digest, expiresAtMs, actor)),

    invite: (base: string, person: { readonly email: string; readonly role: Role }, actor: string) =>
      create(`${base}/join`, 7, (link) => invitations.invite({ ...person, ...link }, actor)),

    /** A link with which a member sets a new password. */
    reset: (
      base: string,
      person: { readonly memberId: string; readonly kept?: readonly MemberMeans[] | undefined },
      actor: string,
    ) => create(`${base}/join`, 1, (link) => invitations.reset({ ...person, ...link }, actor)),
  };
}
