/** Simulates an open live view of the console while a subject is measured. */

import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { Child } from './children.ts';

const patienceMs = 15_000;
const pollMs = 50;

/** Signs in by the set-up link, from the file that the first start names, and follows the live stream until the process ends. */
export async function watchConsole(child: Child): Promise<void> {
  const url = await find(child, /"console":"(http:[^"]+)"/);
  const file = await find(child, /^ {2}(\/.+\/setup-link)$/m);
  const [, token] = (await readFile(file, 'utf8')).trim().split('/setup#token=');
  const owner = { token, email: 'bench@example.com', name: 'Bench', password: 'a long enough password' };
  const session = await fetch(`${url}/api/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(owner),
  });
  if (!session.ok) throw new Error(`the set-up did not succeed: ${session.status} ${await session.text()}`);
  const cookie = session.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ');
  const stream = await fetch(`${url}/api/live`, { headers: { cookie } });
  if (!stream.ok) throw new Error(`the live stream did not open: ${stream.status} ${await stream.text()}`);
  void drain(stream);
}

async function drain(stream: Response): Promise<void> {
  try {
    for await (const _ of stream.body ?? []);
  } catch {
    // The process that is watched has ended.
  }
}

async function find(child: Child, pattern: RegExp): Promise<string> {
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    const [, found] = pattern.exec(child.output()) ?? [];
    if (found !== undefined) return found;
    if (child.hasEnded() || performance.now() > deadlineMs) throw new Error(`the gateway never said ${pattern}`);
    await wait(pollMs);
  }
}
