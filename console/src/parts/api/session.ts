/** Holds the current session for every part of the console. */

import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import type { Member, Session } from '../../../../src/admin/contract.ts';
import { ask, expired, setCsrfToken, whenForged, whenSignedOut } from './client.ts';

/** A changed role is noticed after this time, when the window gets the focus. */
const freshMs = 60_000;

/** The last session that had a member. */
let held: Session | undefined;

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => keep(await ask('GET /api/session', { signal })),
  staleTime: freshMs,
});

export function useSession(): Session | undefined {
  return useQuery(sessionQuery).data;
}

/** The member; undefined if nobody is signed in. After a session has ended, still its member, as the page stays as it is. */
export function useMember(): Member | undefined {
  return useSession()?.member ?? undefined;
}

export function putSession(queries: QueryClient, session: Session): void {
  // The pages contain what another member saw and typed.
  if (held !== undefined && held.member?.id !== session.member?.id) {
    location.reload();
    return;
  }
  queries.setQueryData(sessionQuery.queryKey, keep(session));
  expired.set(false);
}

/** Keeps a session. If a member was signed in before, the page stays, and the shell asks for sign-in above it. */
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

/** Handles an invalid CSRF token: if the same member signed in again in another tab, this tab continues with the new session. */
whenForged(async () => {
  const session = await ask('GET /api/session');
  if (session.member === null || (held !== undefined && session.member.id !== held.member?.id)) return false;
  keep(session);
  return true;
});
