import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { LinkRecord } from '../../../api/links/schemas.ts';
import type { ConsolePage, ConsoleSite } from './console-site.ts';

/** Timeout of one expectation on a machine that may have other things to do. */
export const PATIENCE = { timeout: 60_000 };
/** Timeout of a test of several states on such a machine. Milliseconds. */
export const LONG = 400_000;
/** The site of the workspace, once {@link setDomain} was called. */
export const SHOP = { destination_url: 'https://shop.example/' };

export type CreatedLinks = { links: LinkRecord[] };

/** Creates the workspace's first own-site link, which sets its domain, and removes it again. */
export async function setDomain(site: ConsoleSite): Promise<void> {
  const { links } = await site.api<CreatedLinks>('/links', { ...SHOP, name: 'First', channel: 'other' });
  await site.api(`/links/${links[0]?.id}`, undefined, 'DELETE');
}

/** Returns the workspace's links. @param query such as `&slug=summer` */
export const records = async (site: ConsoleSite, query = '') =>
  (await site.api<{ links: LinkRecord[] }>(`/links?view=records&limit=500${query}`)).links;

/** Chooses an option of a field. */
export async function choose(page: ConsolePage, label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: label, exact: true }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
}

/** Opens a closed section of the link form. @param title its name */
export async function openSection(page: Page, title: string): Promise<void> {
  const section = page.locator('details', { has: page.getByText(title, { exact: true }) });
  if ((await section.getAttribute('open')) === null) await section.locator('summary').click();
}

/** Chooses a channel of a new link. @param name such as `Instagram` */
export async function chooseChannel(page: Page, name: string): Promise<void> {
  const channel = page.getByRole('checkbox', { name, exact: true });
  if ((await channel.count()) === 0) await page.getByRole('button', { name: 'More channels' }).click();
  await channel.check();
}

export const press = (page: ConsolePage, name: string) =>
  page.getByRole('button', { name, exact: true }).click();

export const field = (page: ConsolePage, name: string) => page.getByRole('textbox', { name, exact: true });

/** Returns the slugs of the table, from top to bottom. */
export const slugs = (page: ConsolePage) => page.locator('tbody a.link-slug').allTextContents();

export async function expectSlugs(page: ConsolePage, expected: string[]): Promise<void> {
  await expect.poll(() => slugs(page), PATIENCE).toEqual(expected);
}
