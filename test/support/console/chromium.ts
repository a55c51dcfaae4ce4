/** The system's Chromium, one per test file, started for the first page. */

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after } from 'node:test';
import { type Browser, chromium } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const howToGetIt = `needs Chromium: install it (Debian: apt-get install chromium); looked for ${names.join(', ')} on the path`;

const program = findProgram();

/** For `{ skip }` of a test: why it cannot run here, or false. Where CI is set nothing is left out: `useChromium` fails. */
export const whyNoChromium: string | false = program === undefined && process.env.CI !== 'true' ? howToGetIt : false;

let started: Promise<Browser> | undefined;

export function useChromium(): Promise<Browser> {
  if (program === undefined) throw new Error(howToGetIt);
  started ??= chromium.launch({
    executablePath: program,
    // It must send no requests of its own, and run without a display and without a user of its own.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-dev-shm-usage',
      // A microphone that beeps, for pages that may use it.
      '--use-fake-device-for-media-stream',
    ],
  });
  return started;
}

after(async () => {
  await (await started)?.close();
});

function findProgram(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
