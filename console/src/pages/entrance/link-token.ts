/** Reads the token of a one-time link. It is in the URL fragment, which browsers do not send, so that no log contains it. */

import { useSyncExternalStore } from 'react';

function tokenInLink(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  return token === null || token === '' ? undefined : token;
}

/** The token of the link. If another link is opened in the same tab, only the fragment changes, which this notices. */
export function useLinkToken(): string | undefined {
  return useSyncExternalStore(onFragment, tokenInLink);
}

function onFragment(listener: () => void): () => void {
  window.addEventListener('hashchange', listener);
  return () => window.removeEventListener('hashchange', listener);
}

/** Removes a used link from the history and loads the console again. */
export function goHome(): void {
  location.replace('/');
}

/** The error that the identity provider's sign-in ended with, from the fragment, which no log contains. */
export const problemInLink = (): string | undefined =>
  new URLSearchParams(location.hash.slice(1)).get('problem') ?? undefined;
