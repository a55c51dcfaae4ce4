/** `console.oidc` as the console uses it. */

import type * as z from 'zod';
import { roles } from '../../../core/role.ts';
import type { OidcSettings } from '../../../core/snapshot.ts';
import type { CompileContext } from '../context.ts';
import type { oidcSchema } from './schema.ts';

export function toOidcSettings(
  oidc: z.output<typeof oidcSchema> | undefined,
  { faults }: CompileContext,
): OidcSettings | undefined {
  if (oidc === undefined) return undefined;
  const at = ['console', 'oidc', 'issuer'];
  const issuer = URL.parse(oidc.issuer);
  if (issuer === null) faults.add(at, 'is not a valid URL');
  else if (issuer.protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(issuer.hostname)) {
    faults.add(at, 'wanted: https://; plain http:// is good for a provider on this machine alone');
  }
  if (!oidc.scopes.includes('openid')) faults.add(['console', 'oidc', 'scopes'], 'wanted: openid among them');
  return Object.freeze({
    issuer: oidc.issuer,
    clientId: oidc.client_id,
    clientSecret: oidc.client_secret,
    title: oidc.title,
    scopes: Object.freeze([...oidc.scopes]),
    defaultRole: oidc.default_role,
    roleClaim: oidc.role_claim,
    roles: Object.freeze(
      roles.toReversed().flatMap((role) => oidc.roles[role].map((group) => Object.freeze({ group, role }))),
    ),
    trustsEmail: oidc.trust_email,
  });
}
