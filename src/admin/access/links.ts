/** One-time links: the secret is in the URL fragment, which no server or log sees. */

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
  const made = (base: string, page: string, secret: string, invitation: StoredInvitation): MadeLink => ({
    link: `${base}/${page}#token=${secret}`,
    invitation,
  });
  const createToken = () => randomBytes(secretBytes).toString('base64url');

  return {
    /** For the first owner; undefined where there is a member already. Ends an earlier link. */
    async setUp(base: string, actor: string) {
      const secret = createToken();
      const invitation = await invitations.setUp(digestOf(secret), clock.nowMs() + dayMs, actor);
      return invitation && made(base, 'setup', secret, invitation);
    },

    async invite(base: string, person: { readonly email: string; readonly role: Role }, actor: string) {
      const secret = createToken();
      const invitation = await invitations.invite(
        { ...person, digest: digestOf(secret), expiresAtMs: clock.nowMs() + 7 * dayMs },
        actor,
      );
      return invitation === 'taken' ? invitation : made(base, 'join', secret, invitation);
    },

    /** For a new password. */
    async reset(
      base: string,
      person: { readonly memberId: string; readonly kept?: readonly MemberMeans[] | undefined },
      actor: string,
    ) {
      const secret = createToken();
      const reset = { ...person, digest: digestOf(secret), expiresAtMs: clock.nowMs() + dayMs };
      const invitation = await invitations.reset(reset, actor);
      return invitation && made(base, 'join', secret, invitation);
    },
  };
}
