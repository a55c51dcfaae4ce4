/** The current session, for every part of the console. */

import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import type { Member, Session } from '../../../../src/admin/contract.ts';
import { ask, expired, setCsrfToken, whenForged, whenSignedOut } from './client.ts';

/** A changed role shows within this time, the next time the window gets the focus. */
const freshMs = 60_000;

/** The last session with a member. */
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

/** Undefined if nobody is signed in. After a session ended, its member, as the page stays as it is. */
export function useMember(): Member | undefined {
  return useSession()?.member ?? undefined;
}

/** Stores the session that a sign-in or a set-up returned. */
export function putSession(queries: QueryClient, session: Session): void {
  // The pages contain what another member saw and typed.
  if (held !== undefined && held.member?.id !== session.member?.id) {
    location.reload();
    return;
  }
  queries.setQueryData(sessionQuery.queryKey, keep(session));
  expired.set(false);
}

/** If a member was signed in, the page stays: the shell asks for the sign-in above it. */
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

/** Another tab signed in again: this one goes on if it is the same member. The page of a link has read no session yet. */
whenForged(async () => {
  const session = await ask('GET /api/session');
  if (session.member === null || (held !== undefined && session.member.id !== held.member?.id)) return false;
  keep(session);
  return true;
});
