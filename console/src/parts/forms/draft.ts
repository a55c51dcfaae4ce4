/** Keeps unsaved form input in this browser tab, across reloads, sign-in redirects and crashes. */

import { useEffect, useId } from 'react';
import { isMapping } from './documents.ts';

const prefix = 'postern.draft.';

export function readDraft(key: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(prefix + key) ?? 'null');
    return isMapping(value) ? { ...value } : undefined;
  } catch {
    // The draft is damaged, or the browser stores nothing: then there is no draft.
    return undefined;
  }
}

export function writeDraft(key: string, values: object): void {
  try {
    sessionStorage.setItem(prefix + key, JSON.stringify(values));
  } catch {
    // The browser's storage is full or switched off: the text is still on the page.
  }
}

export function dropDraft(key: string): void {
  try {
    sessionStorage.removeItem(prefix + key);
  } catch {
    // Without storage there is no draft to delete.
  }
}

/** Deletes all drafts at a sign-out, so that the next user of this tab does not see them. */
export function dropAllDrafts(): void {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key);
  } catch {
    // Without storage there are no drafts to delete.
  }
}

/** The question before a form or a secret is left. */
export interface Question {
  readonly title: string;
  readonly body: string;
}

const ofForms: Question = {
  title: 'Leave without saving?',
  body: 'What you changed is not saved. It is here again when you come back to it in this tab.',
};
/** The question before leaving a secret that is shown only once. */
export const ofSecrets: Question = {
  title: 'Did you copy the secret?',
  body: 'It is shown only now, and Postern keeps no copy of it. Without it, the key is of no use until it gets another secret.',
};

const edited = new Map<string, Question>();

/** Asks for confirmation; set by the part that can show a dialog. */
let ask: (question: Question) => Promise<boolean> = async () => true;
/** Sets the part that asks for confirmation before an edited form is left. */
export function whenLeaving(asker: typeof ask): void {
  ask = asker;
}

/** Registers an edited form. The returned function must be called before the form is left because it was saved or cancelled. */
export function useUnsaved(isEdited: boolean, question = ofForms): () => void {
  const id = useId();
  useEffect(() => {
    if (!isEdited) return;
    edited.set(id, question);
    window.addEventListener('beforeunload', hold);
    return () => {
      edited.delete(id);
      if (edited.size === 0) window.removeEventListener('beforeunload', hold);
    };
  }, [isEdited, id, question]);
  return () => void edited.delete(id);
}

export async function mayLeave(): Promise<boolean> {
  const [question] = [...edited.values()];
  if (question === undefined) return true;
  if (!(await ask(question))) return false;
  edited.clear();
  return true;
}

export const isAnythingUnsaved = (): boolean => edited.size > 0;

function hold(event: BeforeUnloadEvent): void {
  if (edited.size > 0) event.preventDefault();
}
