/** Decides whether a caller may use an endpoint: by role and recent proof of identity, and for writes that the console sent them (CSRF). */

import { reaches } from '../../core/role.ts';
import { isSameSecret } from '../../lib/secrets/key-secret.ts';
import { checkProof } from '../access/sign-in.ts';
import type { Caller } from '../caller.ts';
import type { Endpoint } from '../endpoint.ts';
import { Problem } from '../problem.ts';

export const csrfHeader = 'x-postern-csrf';

interface Circumstances {
  /** The URL under which people reach the console; a proxy may use another host name towards the gateway. */
  readonly consoleUrl: string | undefined;
  readonly nowMs: number;
}

export function checkAccess(
  { needs, proof, method }: Endpoint,
  caller: Caller,
  request: Request,
  { consoleUrl, nowMs }: Circumstances,
): void {
  if (method !== 'GET') checkOrigin(caller, request, consoleUrl);
  if (needs === 'anyone') return;
  if (caller.kind === 'nobody') {
    throw new Problem('sign_in_needed', {
      detail: 'Sign in, or send an API token as "Authorization: Bearer <token>".',
      headers: { 'www-authenticate': 'Bearer' },
    });
  }
  if (needs === 'member') {
    if (caller.kind !== 'member') {
      throw new Problem('not_allowed', { detail: 'This is for members, not for API tokens. Sign in to do it.' });
    }
  } else if (!reaches(caller.role, needs)) {
    throw new Problem('not_allowed', {
      detail: `This needs the role ${needs}, and yours is ${caller.role}; ask an owner for it.`,
    });
  }
  if (proof === true) checkProof(caller, nowMs);
}

/** Refuses writes without the console's CSRF token: browsers attach cookies even to requests that another page forces. */
function checkOrigin(caller: Caller, request: Request, consoleUrl: string | undefined): void {
  const site = request.headers.get('sec-fetch-site');
  const forged = new Problem('forged_request', { detail: 'Reload the console and try again there.' });
  if (site !== null && site !== 'same-origin' && site !== 'none') throw forged;
  const origin = request.headers.get('origin');
  const isOurs =
    origin === null || origin === consoleUrl || hostOf(origin) === request.headers.get('host')?.toLowerCase();
  if (!isOurs) throw forged;
  if (caller.kind === 'member' && !isSameSecret(request.headers.get(csrfHeader) ?? '', caller.csrfToken)) throw forged;
}

const hostOf = (origin: string): string | undefined => URL.parse(origin)?.host;
