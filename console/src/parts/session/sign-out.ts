/** Ends the session in this tab and on the server, and clears all its data from the tab. */

import { ask } from '../api/client.ts';
import { notifyFailed } from '../dialogs/undo.tsx';
import { dropAllDrafts } from '../forms/draft.ts';

export async function signOut(): Promise<void> {
  try {
    await ask('DELETE /api/session');
  } catch (error) {
    // The member is still signed in: a person who leaves the machine must notice.
    notifyFailed(error);
    return;
  }
  leaveConsole();
}

/** Reloads the console, which removes everything from memory. */
export function leaveConsole(): void {
  dropAllDrafts();
  location.assign('/');
}
