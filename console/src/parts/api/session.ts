/** The current session, for every part of the console. */

import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import type { Member, Session } from '../../../../src/admin/contract.ts';
import { ask, expired, setCsrfToken, whenForged, whenSignedOut } from './client.ts';

/** A role that was changed shows within that time, at the next look at the window. */
const freshMs = 60_000;

/** The last session that had a member. */
let held: Session | undefined;

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => keep(await ask('GET /api/session', { signal })),
  staleTime: freshMs,
});

/** Undefined until it is known. */
export function useSession(): Session | undefined {
  return useQuery(sessionQuery).data;
}

/** Undefined where nobody is signed in. Of a session that has ended: who was, as the page stays as it is. */
export function useMember(): Member | undefined {
  return useSession()?.member ?? undefined;
}

/** What a sign-in or a set-up gave: from now on this holds. */
export function putSession(queries: QueryClient, session: Session): void {
  // The pages hold what another member saw and typed.
  if (held !== undefined && held.member?.id !== session.member?.id) {
    location.reload();
    return;
  }
  queries.setQueryData(sessionQuery.queryKey, keep(session));
  expired.set(false);
}

/** Where somebody was signed in, the page is not taken away: the shell asks again above it. */
function keep(session: Session): Session {
  setCsrfToken(session.csrfToken);
  if (session.member !== null) {
    held = session;
    return session;
  }
  if (held === undefined) return session;
  expired.set(true);
  return { ...session, member: held.member };
}

whenSignedOut(() => {
  if (held !== undefined) expired.set(true);
});

/** Another tab signed in anew: this one may go on if it is the same member. */
whenForged(async () => {
  const session = await ask('GET /api/session');
  if (session.member === null || session.member.id !== held?.member?.id) return false;
  keep(session);
  return true;
});
