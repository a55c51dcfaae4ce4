/** Reads the token of a one-time link. It is in the URL fragment, which browsers do not send, so that no log contains it. */

import { useSyncExternalStore } from 'react';

function tokenInLink(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  return token === null || token === '' ? undefined : token;
}

/** Another link may be opened in the same tab, which changes nothing but the fragment. */
export function useLinkToken(): string | undefined {
  return useSyncExternalStore(onFragment, tokenInLink);
}

function onFragment(listener: () => void): () => void {
  window.addEventListener('hashchange', listener);
  return () => window.removeEventListener('hashchange', listener);
}

/** What was used up is of no use in the history; the pages behind begin anew. */
export function goHome(): void {
  location.replace('/');
}

/** What the identity provider's way ended with: it stands in the fragment, which no log holds. */
export const problemInLink = (): string | undefined =>
  new URLSearchParams(location.hash.slice(1)).get('problem') ?? undefined;
