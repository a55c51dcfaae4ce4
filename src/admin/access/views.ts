/** Members and sessions as the API shows them. */

import type * as z from 'zod';
import type { OidcSettings } from '../../core/snapshot.ts';
import type { StoredMember } from '../../core/store/members.ts';
import type { AdminContext } from '../context.ts';
import { toShown } from '../shapes/common.ts';
import type * as shapes from './contract/session.ts';
import type { LiveSession } from './sessions.ts';

export function toMemberView(member: StoredMember): z.input<typeof shapes.member> {
  const { passwordHash, oidcSubject, disabledAtMs, ...others } = member;
  const means = { hasPassword: passwordHash !== undefined, hasIdentityProvider: oidcSubject !== undefined };
  return { ...toShown(others), ...means, disabled: disabledAtMs !== undefined };
}

function toProvider({ title, roles, defaultRole }: OidcSettings) {
  return { title, makesFirstOwner: defaultRole === 'owner' || roles.some(({ role }) => role === 'owner') };
}

/** The answer to the console's first request, and to every sign-in. */
export async function toSessionView(
  live: Pick<LiveSession, 'member' | 'csrfToken'> | undefined,
  context: AdminContext,
): Promise<z.input<typeof shapes.session>> {
  const oidc = context.oidc.current();
  return {
    member: live === undefined ? null : toMemberView(live.member),
    csrfToken: live?.csrfToken ?? null,
    needsSetUp: live === undefined && !(await context.store.members.any()),
    signIn: { password: true, passkey: true, oidc: oidc === undefined ? null : toProvider(oidc.settings) },
    version: context.version,
  };
}
