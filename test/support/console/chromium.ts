/** The system's Chromium, one per test file, started for the first page. */

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after } from 'node:test';
import { type Browser, chromium } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const howToGetIt = `needs Chromium: install it (Debian: apt-get install chromium); looked for ${names.join(', ')} on the path`;

/**
 * A list of disabled features replaces Playwright's own, so it begins with that. Without the last two each window loads pages for an address bar
 * that nobody sees, which takes as long as the first page of the console.
 */
const disabledFeatures = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
];

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
      `--disable-features=${disabledFeatures.join()}`,
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
