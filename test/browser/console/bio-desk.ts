import type { FrameLocator } from 'playwright-core';
import { expect } from 'vitest';
import { visitNew } from '../../support/visitors.ts';
import type { ConsolePage, ConsoleSite } from './console-site.ts';

/** A limit for a loaded machine, not an expectation. */
export const PATIENT = { timeout: 60_000 };
/** Timeout of a test with several page states on a loaded machine. Milliseconds. */
export const LONG = 240_000;

/** The fields of a bio page that the tests read. */
export type MadePage = { id: string; slug: string; links: { id: string; short_url: string }[] };

/** Creates and reads bio pages as the console does, through a key that it does not show. */
export type BioDesk = {
  /** The slug is the given one with a unique number. */
  make(slug: string, fields?: object): Promise<MadePage>;
  get(id: string): Promise<MadePage>;
  close(): Promise<void>;
};

/** Opens the console's bio pages as the demo workspace's owner. */
export async function bioDesk(site: ConsoleSite): Promise<BioDesk> {
  const page = await site.open('/bio-pages');
  const api = `${site.app}/api/v1`;
  const session = (await (await page.request.get(`${api}/session`)).json()) as { csrf_token: string };
  let made = 0;
  return {
    async make(slug, fields = {}) {
      made += 1;
      const response = await page.request.post(`${api}/bio-pages`, {
        headers: { 'x-csrf-token': session.csrf_token },
        data: { slug: `${slug}-${made}`, ...fields },
      });
      if (!response.ok()) throw new Error(`no bio page was created: ${await response.text()}`);
      return (await response.json()) as MadePage;
    },
    async get(id) {
      return (await (await page.request.get(`${api}/bio-pages/${id}`)).json()) as MadePage;
    },
    close: () => page.close(),
  };
}

/** The preview that the editor shows beside the forms. */
export const preview = (page: ConsolePage): FrameLocator =>
  page.frameLocator('iframe[title="Preview of the page"]');

/** Adds a button at the end. */
export async function addButton(page: ConsolePage, label: string, url: string): Promise<void> {
  await page.getByRole('button', { name: 'Add a button' }).click();
  const added = page.getByRole('list', { name: 'Buttons' }).getByRole('listitem').last();
  await added.getByLabel('Label').fill(label);
  await added.getByLabel('Destination URL').fill(url);
}

/** Presses Save and waits until every change is saved. */
export async function save(page: ConsolePage): Promise<void> {
  const button = page.getByRole('button', { name: 'Save', exact: true });
  await button.click();
  await page.getByText('Saved.', { exact: true }).waitFor();
  expect(await button.isDisabled()).toBe(true);
}

/** Follows a short link as a browser does. */
export async function press(shortUrl: string): Promise<void> {
  const { status } = await visitNew(shortUrl);
  expect(status).toBe(302);
}
