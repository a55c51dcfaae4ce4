/** The identity provider of the configuration in force, if there is one. */

import type { OidcSettings } from '../../core/snapshot.ts';
import { createOidcFlow, type OidcFlow } from './oidc.ts';

export interface OidcDesk {
  /** Undefined: nobody signs in that way. */
  current(): { readonly settings: OidcSettings; readonly flow: OidcFlow } | undefined;
}

export function createOidcDesk(settings: () => OidcSettings | undefined, nowMs: () => number): OidcDesk {
  let made: { readonly settings: OidcSettings; readonly flow: OidcFlow } | undefined;
  return {
    current() {
      const wanted = settings();
      if (wanted === undefined) return undefined;
      if (made === undefined || !isSame(made.settings, wanted)) {
        made = { settings: wanted, flow: createOidcFlow(wanted, nowMs) };
      }
      return made;
    },
  };
}

/** A reload makes them anew, mostly as they were. */
const isSame = (one: OidcSettings, other: OidcSettings): boolean => JSON.stringify(one) === JSON.stringify(other);
