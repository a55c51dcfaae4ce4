/** What was typed and not yet sent, kept for this tab: a reload, a redirect to a sign-in or a crash does not lose it. */

import { isMapping } from './is-mapping.ts';

const prefix = 'postern.draft.';

export function readDraft(key: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(prefix + key) ?? 'null');
    return isMapping(value) ? { ...value } : undefined;
  } catch {
    // Broken, or the browser keeps nothing: then there is no draft.
    return undefined;
  }
}

export function writeDraft(key: string, values: object): void {
  try {
    sessionStorage.setItem(prefix + key, JSON.stringify(values));
  } catch {
    // Full, or switched off: the text is still on the page.
  }
}

export function dropDraft(key: string): void {
  try {
    sessionStorage.removeItem(prefix + key);
  } catch {
    // As above: what cannot be kept is not there either.
  }
}

/** At a sign-out, so that whoever signs in next in this tab does not find it. */
export function dropAllDrafts(): void {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key);
  } catch {
    // As above.
  }
}
