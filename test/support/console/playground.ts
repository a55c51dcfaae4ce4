/** Shared steps of the playground tests on every tab. */

import type { Locator, Page } from 'playwright-core';
import type { Visitor } from './browser.ts';

export const tabOf = (route: string): string => `/playground?route=${route}`;

export const resultOf = (page: Page): Locator => page.getByRole('region', { name: 'What comes back' });

/** Presses the button, and waits until the answer stands there. */
export async function press(page: Page, label: string): Promise<void> {
  const answered = page.waitForResponse((response) => response.request().method() === 'POST');
  await page.getByRole('button', { name: label, exact: true }).click();
  await answered;
  await resultOf(page).locator('[aria-busy="false"]').first().waitFor();
}

/** From the top of the page, where the pictures begin. */
export async function shoot(visitor: Pick<Visitor, 'shoot'>, page: Page, name: string): Promise<void> {
  await page.evaluate('window.scrollTo(0, 0)');
  await visitor.shoot(name);
}

export async function choose(page: Page, label: string, value: string): Promise<void> {
  await page.getByRole('combobox', { name: label, exact: true }).click();
  await page.getByRole('option', { name: value, exact: true }).click();
}
