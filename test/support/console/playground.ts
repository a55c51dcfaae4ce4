/** What tests of the playground do on every tab of it. */

import type { Page } from 'playwright-core';
import type { Visitor } from './browser.ts';

export const tabOf = (route: string): string => `/playground?route=${route}`;

/** From the top of the page, where the pictures begin. */
export async function shoot(visitor: Pick<Visitor, 'shoot'>, page: Page, name: string): Promise<void> {
  await page.evaluate('window.scrollTo(0, 0)');
  await visitor.shoot(name);
}

export async function choose(page: Page, label: string, value: string): Promise<void> {
  await page.getByRole('combobox', { name: label, exact: true }).click();
  await page.getByRole('option', { name: value, exact: true }).click();
}
