import type { Locator, Page } from 'playwright-core';

type Named = Parameters<Page['getByRole']>[0];

/** What a task took: presses of the mouse, and keys. A pasted text is two keys, as is any chord. */
export type Effort = { clicks: number; keys: number };

/** Someone at a page who knows only what is visible: names of controls and texts. Counts what they do. */
export function personAt(page: Page) {
  const effort: Effort = { clicks: 0, keys: 0 };
  const control = (role: Named, name: string | RegExp, within: Page | Locator = page) =>
    within.getByRole(role, { name, ...(typeof name === 'string' && { exact: true }) });

  /** Presses a control. */
  const press = async (role: Named, name: string | RegExp, within?: Locator): Promise<void> => {
    await control(role, name, within).click();
    effort.clicks += 1;
  };
  /** Writes into the focused field, once there is one: a dialog may take a moment to open. */
  const type = async (text: string): Promise<void> => {
    await page.locator('input:focus, textarea:focus').waitFor();
    await page.keyboard.type(text);
    effort.keys += text.length;
  };
  return {
    effort,
    press,
    type,
    /** Presses a field and writes into it. */
    write: async (name: string, text: string, within?: Locator): Promise<void> => {
      await press('textbox', name, within);
      await type(text);
    },
    /** Presses a list of choices, and one of them. */
    choose: async (name: string, option: string): Promise<void> => {
      await control('combobox', name).selectOption({ label: option });
      effort.clicks += 2;
    },
    /** Presses a key, or several together: `Control+k`. */
    key: async (keys: string): Promise<void> => {
      await page.keyboard.press(keys);
      effort.keys += keys.split('+').length;
    },
    /** Pastes what was copied elsewhere. */
    paste: async (text: string): Promise<void> => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
      await page.keyboard.press('Control+v');
      effort.keys += 2;
    },
    /** Reads the text of a part of the page, once it is there. */
    read: async (role: Named, name: string | RegExp, within?: Locator): Promise<string> =>
      (await control(role, name, within).first().textContent()) ?? '',
    /** Waits until a text is visible. */
    see: (text: string | RegExp, within: Page | Locator = page): Promise<void> =>
      within.getByText(text).first().waitFor(),
  };
}
