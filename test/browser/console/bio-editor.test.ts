import { expect, test, vi } from 'vitest';
import { plainPng } from '../../support/scanned-images.ts';
import { inChromium } from '../in-chromium.ts';
import { addButton, type BioDesk, bioDesk, LONG, PATIENT, press, preview, save } from './bio-desk.ts';
import {
  axeViolations,
  type ConsolePage,
  type ConsoleSite,
  consoleSite,
  expectClean,
  expectGood,
  expectNoSidewaysScroll,
  screenshot,
} from './console-site.ts';

vi.setConfig({ testTimeout: LONG });

let site: ConsoleSite;
let desk: BioDesk;

inChromium(async () => {
  site = await consoleSite();
  desk = await bioDesk(site);
  return site.close;
});

const links = (...labels: string[]) =>
  labels.map((label, index) => ({ label, url: `https://example.com/${index}` }));

const labels = (page: ConsolePage) =>
  page
    .getByRole('list', { name: 'Buttons' })
    .getByLabel(/^(Label|Heading)$/)
    .evaluateAll((inputs) => inputs.map((input) => (input as unknown as { value: string }).value));

const focused = (page: ConsolePage) => page.locator(':focus').getAttribute('aria-label');

test('fields take as many characters as the API, never half an emoji, and the size of a picture is read', async () => {
  const family = '👨‍👩‍👧‍👦';
  const { id } = await desk.make('emoji', { links: links('Home') });
  const page = await site.open(`/bio-pages/${id}`);
  const picture = 'https://img.example/ada.png';
  const image = plainPng(400, 300, [230, 110, 0, 255]);
  await page.route(picture, (route) => route.fulfill({ body: image, contentType: 'image/png' }));
  await page.getByLabel('Picture', { exact: true }).fill(picture);
  await Promise.all([page.waitForResponse(picture), page.keyboard.press('Tab')]);
  await page.getByLabel('Title').fill('🎉'.repeat(61));
  await page.getByLabel('About').fill('🎈'.repeat(279));
  await page.getByText('279 of 280 characters').waitFor();
  const emoji = page.getByLabel('Emoji');
  await emoji.focus();
  for (let n = 1; n <= 3; n++) await page.keyboard.insertText(family);
  expect(await emoji.inputValue()).toBe(family + family);
  await save(page);
  type Saved = {
    title: string;
    bio: string;
    links: { emoji: string }[];
    avatar_width: number;
    avatar_height: number;
  };
  expect(await site.api<Saved>(`/bio-pages/${id}`)).toMatchObject({
    title: '🎉'.repeat(60),
    bio: '🎈'.repeat(279),
    avatar_width: 400,
    avatar_height: 300,
    links: [{ emoji: family + family }],
  });
  expect(new Set(page.watched.foreign.splice(0))).toEqual(new Set([picture]));
  expectClean(page);
  await page.close();
});

test('pictures are uploaded by choosing and by dropping a file, shown at once, and refused in words', async () => {
  const { id, slug } = await desk.make('pictured', { title: 'Ada', links: links('Home') });
  const page = await site.open(`/bio-pages/${id}`);
  const picture = page.getByRole('button', { name: 'Upload the picture of the page' });
  const choose = async (name: string, buffer: Buffer) => {
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), picture.click()]);
    await chooser.setFiles({ name, mimeType: 'image/png', buffer });
  };
  await choose('virus.png', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'));
  await page.getByText('The picture must be a whole JPEG, PNG, WebP, GIF, or AVIF picture.').waitFor();
  await choose('large.png', Buffer.alloc(5 * 1_048_576 + 60_000));
  await page.getByText('The picture has 5.1 MiB; it must have at most 5 MiB.').waitFor();
  await choose('ada.png', plainPng(400, 300, [230, 110, 0, 255]));
  await page.getByText('Uploaded. Save to show it.').waitFor();
  const shown = await preview(page).locator('img.avatar').getAttribute('src');
  expect(shown).toMatch(/\/assets\/[0-9a-f]{64}\.webp$/);

  // A browser's files cannot be dragged from a test: the event is the one that a drop sends.
  const bytes = [...plainPng(60, 60, [0, 90, 200, 255])];
  const dropped = await page.evaluateHandle(`(() => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(${JSON.stringify(bytes)})], 'book.png', { type: 'image/png' }));
    return data;
  })()`);
  const ofButton = page.locator('.picture-field', { hasText: 'Image' });
  await ofButton.dispatchEvent('drop', { dataTransfer: dropped });
  await ofButton.getByText('Uploaded picture').waitFor();
  await preview(page).locator('.button img').waitFor();
  await expectGood(page, 'bio-editor-uploaded-pictures');
  await save(page);
  type Saved = { avatar_url: string; avatar_width: number; links: { image_url: string }[] };
  const saved = await site.api<Saved>(`/bio-pages/${id}`);
  expect(saved).toMatchObject({ avatar_url: shown, avatar_width: 400 });
  const visitor = await (await fetch(`${new URL(saved.avatar_url).origin}/${slug}`)).text();
  for (const url of [saved.avatar_url, saved.links[0]?.image_url ?? '']) {
    expect(visitor).toContain(url);
    expect((await fetch(url)).headers.get('content-type')).toBe('image/webp');
  }

  await page.getByRole('button', { name: 'Remove the picture of the page' }).click();
  expect(await page.getByLabel('Picture', { exact: true }).inputValue()).toBe('');
  await preview(page).locator('span.avatar').waitFor();
  await page.close();
});

test('a page is filled and published; visitors see what the preview showed, and their clicks are counted', async () => {
  const { id, slug } = await desk.make('ada', { title: 'Ada', is_published: false });
  const page = await site.open(`/bio-pages/${id}`);
  await page.getByLabel('Title').fill('Ada Lovelace');
  await page.getByLabel('About').fill('Notes on the Analytical Engine');
  await addButton(page, 'My book', 'https://books.example/ada');
  await page.getByText('Counts clicks once saved.').waitFor();
  await page.getByLabel('Emoji').fill('📖');
  await page.getByRole('button', { name: 'Add a heading' }).click();
  await page.getByRole('textbox', { name: 'Heading' }).fill('Elsewhere');
  await addButton(page, 'Watch the talk', 'https://videos.example/1');
  await page.getByRole('button', { name: 'Add a profile' }).click();
  await page.getByLabel('Platform of profile 1').selectOption('GitHub');
  await page.getByLabel('Address of profile 1').fill('https://github.com/ada');

  const shown = preview(page);
  await shown.getByRole('link', { name: 'Watch the talk' }).waitFor();
  await shown.getByText('Notes on the Analytical Engine').waitFor();
  await shown.getByRole('link', { name: 'GitHub' }).waitFor();
  await page.getByRole('tab', { name: 'Look' }).click();
  // A ready look, and then one's own.
  const forest = page.getByRole('button', { name: 'Forest' });
  await forest.click();
  await page.getByRole('button', { name: 'Forest', pressed: true }).waitFor();
  expect(await page.getByRole('radio', { name: 'forest' }).isChecked()).toBe(true);
  expect(await page.getByRole('button', { pressed: true }).count()).toBe(1);
  await page.getByRole('radio', { name: 'ocean' }).click();
  await page.getByText('Glass', { exact: true }).click();
  await page.getByLabel('Font').selectOption('Serif');
  await expectGood(page, 'bio-page-look');
  await page.getByRole('tab', { name: 'Publish' }).click();
  await expectGood(page, 'bio-page-publish');
  await page.getByRole('main').getByRole('button', { name: 'Publish', exact: true }).click();
  await page.getByRole('region', { name: 'Changes' }).getByText('Saved.').waitFor();
  expect(await page.getByLabel('Published').isChecked()).toBe(true);

  const visitor = await site.browser.newPage();
  // Ingest hears of the change a moment later.
  const published = async () => (await visitor.goto(`${site.service.short_url}/${slug}`))?.status();
  await expect.poll(published, PATIENT).toBe(200);
  const styleOf = "getComputedStyle(document.querySelector('main')).backdropFilter";
  expect(await visitor.evaluate(styleOf)).toContain('blur');
  const seen = await visitor.locator('main').textContent();
  await expect.poll(() => shown.locator('main').textContent(), PATIENT).toBe(seen);
  expect(seen).toMatch(/Ada Lovelace[\s\S]*My book[\s\S]*Elsewhere[\s\S]*Watch the talk/);
  const href = await visitor.getByRole('link', { name: 'My book' }).getAttribute('href');
  await visitor.close();

  await press(href ?? '');
  await page.getByRole('tab', { name: 'Content' }).click();
  const book = page.getByRole('list', { name: 'Buttons' }).getByRole('listitem').first();
  await expect
    .poll(async () => {
      await page.reload();
      await page.getByText('All buttons:').waitFor();
      return book.getByText('1 click · 1 visitor · 0 conversions').count();
    }, PATIENT)
    .toBe(1);
  await page.getByText(/All buttons: 1 click · 0 conversions/).waitFor();
  await page.getByText('0 clicks · 0 visitors').waitFor();
  await expectGood(page, 'bio-page-content');
  await page.setViewportSize({ width: 360, height: 900 });
  await page.getByText('Preview', { exact: true }).click();
  await shown.getByRole('link', { name: 'Watch the talk' }).waitFor();
  await screenshot(page, 'bio-page-preview-light-360');
  expect(await axeViolations(page)).toEqual([]);
  await expectNoSidewaysScroll(page);
  await page.close();
});

test('the preview is drawn, cannot be left, runs no script, and keeps its scroll position during typing', async () => {
  const names = Array.from({ length: 12 }, (_, n) => `Button ${n + 1}`);
  const { id } = await desk.make('preview', { title: 'Preview', links: links(...names) });
  const page = await site.open(`/bio-pages/${id}`);
  const shown = preview(page);
  const last = shown.getByRole('link', { name: 'Button 12' });
  await last.waitFor();
  const ground = 'getComputedStyle(document.querySelector(".button")).backgroundColor';
  const frame = page.frames().find((one) => one !== page.mainFrame());
  // The preview scrolls to its place when it has loaded.
  await frame?.waitForLoadState();
  expect(await frame?.evaluate(ground)).toBe('rgb(17, 17, 17)');
  await last.scrollIntoViewIfNeeded();
  const placeOf = () => page.frames()[1]?.evaluate('scrollY');
  const place = await placeOf();
  expect(place).toBeGreaterThan(100);
  const opened = page.context().pages().length;
  await last.click();
  expect(page.context().pages()).toHaveLength(opened);
  await page.getByLabel('Title').fill('Typed');
  await shown.getByRole('heading', { name: 'Typed' }).waitFor({ state: 'attached' });
  await expect.poll(placeOf, PATIENT).toBe(place);
  expect(page.frames()[1]?.url()).toBe('about:srcdoc');
  expectClean(page);
  await page.close();
});

test('buttons are sorted by keyboard, and removing one asks first when its history goes with it', async () => {
  const { id } = await desk.make('order', { title: 'Order', links: links('One', 'Two', 'Three') });
  const page = await site.open(`/bio-pages/${id}`);
  await page.getByRole('button', { name: 'Move Three up' }).press('Enter');
  await page.getByText('Three is now 2 of 3').waitFor();
  // The focus moves along, and turns around at either end.
  expect(await focused(page)).toBe('Move Three up');
  await page.keyboard.press('Enter');
  await page.getByText('Three is now 1 of 3').waitFor();
  expect(await labels(page)).toEqual(['Three', 'One', 'Two']);
  expect(await focused(page)).toBe('Move Three down');

  await addButton(page, 'Four', 'https://example.com/4');
  await page.getByRole('button', { name: 'Remove Four' }).click();
  expect(await labels(page)).toEqual(['Three', 'One', 'Two']);
  await page.getByRole('button', { name: 'Remove Three' }).click();
  const question = page.getByRole('dialog', { name: 'Remove Three?' });
  await question.getByText(/its clicks are deleted/).waitFor();
  await question.getByRole('button', { name: 'Cancel' }).click();
  expect(await labels(page)).toEqual(['Three', 'One', 'Two']);
  await page.getByRole('button', { name: 'Remove Two' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await save(page);
  await page.reload();
  await expect.poll(() => labels(page), PATIENT).toEqual(['Three', 'One']);
  expectClean(page);
  await page.close();
});

test('buttons are sorted by their handles, with the mouse and with arrow keys', async () => {
  const { id } = await desk.make('handles', { title: 'Handles', links: links('One', 'Two', 'Three') });
  const page = await site.open(`/bio-pages/${id}`);
  const handle = (label: string) => page.getByRole('button', { name: `Reorder ${label}` });
  const middleOf = async (label: string) => {
    const box = await handle(label).boundingBox();
    if (!box) throw new Error(`${label} has no handle`);
    return [box.x + box.width / 2, box.y + box.height / 2] as const;
  };
  await handle('Three').scrollIntoViewIfNeeded();
  await page.mouse.move(...(await middleOf('Three')));
  await page.mouse.down();
  const [x, y] = await middleOf('One');
  await page.mouse.move(x, y - 10, { steps: 5 });
  await page.mouse.up();
  await page.getByText('Three is now 1 of 3').waitFor();
  expect(await labels(page)).toEqual(['Three', 'One', 'Two']);

  // Escape ends a drag without a change.
  await page.mouse.move(...(await middleOf('Three')));
  await page.mouse.down();
  const [downX, downY] = await middleOf('One');
  await page.mouse.move(downX, downY + 60, { steps: 5 });
  await page.keyboard.press('Escape');
  await page.mouse.up();
  expect(await labels(page)).toEqual(['Three', 'One', 'Two']);

  await handle('Two').press('ArrowUp');
  await page.getByText('Two is now 2 of 3').waitFor();
  expect(await focused(page)).toBe('Reorder Two');
  await page.keyboard.press('ArrowUp');
  await page.getByText('Two is now 1 of 3').waitFor();
  await page.keyboard.press('ArrowUp');
  expect(await labels(page)).toEqual(['Two', 'Three', 'One']);
  await save(page);
  await page.reload();
  await expect.poll(() => labels(page), PATIENT).toEqual(['Two', 'Three', 'One']);
  expectClean(page);
  await page.close();
});

test('texts are edited on the preview itself, keep the focus while they are typed, and are saved', async () => {
  const { id } = await desk.make('inplace', {
    title: 'Ada',
    bio: 'Tea and more',
    links: [{ type: 'section', label: 'Shops', emoji: '🍵' }, ...links('Home', 'Shop')],
  });
  const page = await site.open(`/bio-pages/${id}`);
  const shown = preview(page);
  const text = (name: string) => shown.locator(`[title="Edit the ${name}"]`);
  await text('title').click();
  await page.keyboard.press('End');
  await page.keyboard.type(' Lovelace');
  // The preview of the draft would come 300 ms after a press: the text keeps the focus meanwhile.
  await expect
    .poll(() => page.getByLabel('Title', { exact: true }).first().inputValue(), PATIENT)
    .toBe('Ada Lovelace');
  await page.keyboard.type(', Countess');
  await page.keyboard.press('Tab');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('Tea only');
  await page.keyboard.press('Escape');
  await text('heading').click();
  expect(await text('heading').textContent()).toBe('Shops');
  await page.keyboard.press('End');
  await page.keyboard.type(' of ours');
  await page.keyboard.press('Enter');
  await shown.getByText('🍵 Shops of ours').waitFor();
  await text('label').last().fill('x'.repeat(85));
  await text('label').last().press('Enter');
  await shown.getByText('x'.repeat(80), { exact: true }).waitFor();
  // A press outside of the preview ends an edit, too.
  await text('label').first().click();
  await page.keyboard.type('!');
  await page.getByLabel('Title', { exact: true }).fill('Ada, Countess');
  await shown.getByRole('heading', { name: 'Ada, Countess' }).waitFor();
  await expectGood(page, 'bio-page-edited-in-place');
  await save(page);
  const saved = await site.api<{ title: string; bio: string; links: { label: string }[] }>(
    `/bio-pages/${id}`,
  );
  expect([saved.title, saved.bio]).toEqual(['Ada, Countess', 'Tea and more']);
  const [heading, home = '', long] = saved.links.map(({ label }) => label);
  expect([heading, home.replace('!', ''), home.length, long]).toEqual([
    'Shops of ours',
    'Home',
    5,
    'x'.repeat(80),
  ]);
  expectClean(page);
  await page.close();
});

test('what cannot be saved is shown at its field, which gets the focus, and nothing is lost', async () => {
  const { id } = await desk.make('refused', { title: 'Refused', links: links('Good') });
  const page = await site.open(`/bio-pages/${id}`);
  await addButton(page, 'Bad', 'javascript:alert(1)');
  await page.getByRole('button', { name: 'Move Bad up' }).click();
  await page.getByRole('tab', { name: 'Look' }).click();
  const color = page.getByLabel('Text color', { exact: true });
  await color.fill('oklch(50% 0.2 30)');
  await page.getByRole('tab', { name: 'Publish' }).click();
  await page.getByText('For developers').click();
  await page.getByLabel('Metadata').fill('[1]');
  const saving = page.getByRole('button', { name: 'Save', exact: true });
  const notice = page.getByRole('region', { name: 'Changes' }).getByRole('alert');

  // The server would accept it and write another color.
  await saving.click();
  await notice.getByText('Text color: is not a color').waitFor();
  await notice.getByText('Metadata: must be a JSON object').waitFor();
  await expect.poll(() => color.evaluate('document.activeElement.value'), PATIENT).toBe('oklch(50% 0.2 30)');
  await color.fill('rebeccapurple');
  await page.getByRole('tab', { name: 'Publish' }).click();
  expect(await page.getByLabel('Metadata').getAttribute('aria-invalid')).toBe('true');
  await page.getByLabel('Metadata').fill('{"shop": 1}');

  // The server rejects this and names the field.
  await saving.click();
  await notice.getByText(/Button 1, Destination URL: must be a full URL/).waitFor();
  const bad = page.getByLabel('Destination URL').first();
  await bad.waitFor();
  expect(await bad.getAttribute('aria-invalid')).toBe('true');
  expect(await page.getByLabel('Destination URL').nth(1).getAttribute('aria-invalid')).not.toBe('true');
  // The error stays with the button when the button moves.
  await page.getByRole('button', { name: 'Move Bad down' }).click();
  expect(await page.getByLabel('Destination URL').nth(1).getAttribute('aria-invalid')).toBe('true');
  await expectGood(page, 'bio-page-refused');
  await page.getByLabel('Destination URL').nth(1).fill('https://good.example');
  await save(page);
  expect(await notice.count()).toBe(0);
  expect(await desk.get(id)).toMatchObject({
    metadata: { shop: 1 },
    theme: { textColor: 'rebeccapurple' },
    links: [{ label: 'Good' }, { label: 'Bad', url: 'https://good.example' }],
  });
  await page.close();
});

type Page = { title: string; links: { id: string; label: string; short_url: string }[] };

test('a save changes only what the person edited; buttons added meanwhile stay and are shown', async () => {
  const { id, links: made } = await desk.make('stale', { title: 'Stale', links: links('One') });
  const page = await site.open(`/bio-pages/${id}`);
  await expect.poll(() => labels(page), PATIENT).toEqual(['One']);
  await page.getByLabel('Title').fill('Of one person');
  const both = { links: [...made, ...links('Theirs')] };
  const theirs = await site.api<Page>(`/bio-pages/${id}`, both, 'PATCH');
  await save(page);
  const saved = await site.api<Page>(`/bio-pages/${id}`);
  expect(saved).toMatchObject({ title: 'Of one person', links: theirs.links });
  expect(await labels(page)).toEqual(['One', 'Theirs']);

  // Without unsaved changes, the newly read page is shown.
  await site.api(`/bio-pages/${id}`, { links: [...saved.links, ...links('Another')] }, 'PATCH');
  await expect
    .poll(async () => {
      await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
      return labels(page);
    }, PATIENT)
    .toEqual(['One', 'Theirs', 'Another']);
  await page.getByText('Saved.', { exact: true }).waitFor();
  expectClean(page);
  await page.close();
});

test('buttons that another person changed meanwhile are overwritten only after a confirmation', async () => {
  const { id } = await desk.make('both', { title: 'Both', links: links('One') });
  const now = () => site.api<Page>(`/bio-pages/${id}`);
  const has = async () => (await now()).links.map(({ label }) => label);
  const addTheirs = async (label: string) =>
    site.api(`/bio-pages/${id}`, { links: [...(await now()).links, ...links(label)] }, 'PATCH');
  const page = await site.open(`/bio-pages/${id}`);
  const notice = page.getByRole('region', { name: 'Changes' }).getByRole('alert');
  const trySaving = () => page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByLabel('Title').fill('Mine');
  await addButton(page, 'Mine', 'https://mine.example');
  await addTheirs('Theirs');
  await trySaving();
  await notice.getByText('Someone else or an API client has changed: Buttons').waitFor();
  await notice.getByText('with their short links and clicks: Theirs').waitFor();
  expect(await has()).toEqual(['One', 'Theirs']);
  await expectGood(page, 'bio-page-changed-meanwhile');
  await notice.getByRole('button', { name: 'Load the newer version' }).click();
  await expect.poll(() => labels(page), PATIENT).toEqual(['One', 'Theirs']);
  expect(await page.getByLabel('Title').inputValue()).toBe('Mine');

  await addButton(page, 'Mine', 'https://mine.example');
  await addTheirs('More');
  await trySaving();
  await notice.getByText('short links and clicks: More').waitFor();
  // Asks once more: the person confirmed another state.
  await addTheirs('Most');
  await notice.getByRole('button', { name: 'Overwrite' }).click();
  await notice.getByText('short links and clicks: More, Most').waitFor();
  expect(await has()).toEqual(['One', 'Theirs', 'More', 'Most']);
  await notice.getByRole('button', { name: 'Overwrite' }).click();
  await page.getByText('Saved.', { exact: true }).waitFor();
  expect(await has()).toEqual(['One', 'Theirs', 'Mine']);
  expect((await now()).title).toBe('Mine');
  expect(await notice.count()).toBe(0);
  expectClean(page);
  await page.close();
});

test('the editor asks before unsaved changes are discarded', async () => {
  const { id } = await desk.make('unsaved', { title: 'Unsaved' });
  const page = await site.open('/bio-pages');
  await page.getByRole('link', { name: 'Unsaved' }).click();
  await page.getByRole('heading', { level: 1, name: 'Unsaved' }).waitFor();
  const editor = `${site.app}/console/bio-pages/${id}`;
  const title = page.getByLabel('Title');
  await title.fill('Changed');
  await page.getByRole('tab', { name: 'Look' }).click();
  await page.getByRole('tab', { name: 'Content' }).click();
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });

  await page.getByRole('link', { name: 'All bio pages' }).click();
  await question.getByRole('button', { name: 'Stay' }).click();
  expect(page.url().split('?')[0]).toBe(editor);
  expect(await title.inputValue()).toBe('Changed');

  // Past both tabs, to the list.
  await page.evaluate('history.go(-3)');
  await question.getByRole('button', { name: 'Stay' }).click();
  expect(page.url().split('?')[0]).toBe(editor);
  expect(await title.inputValue()).toBe('Changed');

  let asked = '';
  page.once('dialog', (dialog) => {
    asked = dialog.type();
    void dialog.dismiss();
  });
  await page.evaluate('setTimeout(() => location.reload())');
  await expect.poll(() => asked, PATIENT).toBe('beforeunload');
  expect(await title.inputValue()).toBe('Changed');

  await page.getByRole('button', { name: /^Sign out/ }).click();
  await question.getByRole('button', { name: 'Stay' }).click();
  expect(await title.inputValue()).toBe('Changed');

  await page.getByRole('link', { name: 'Webhooks' }).click();
  await question.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Unsaved' }).waitFor();
  // Reverted changes cause no question.
  await title.fill('Changed again');
  await page.getByRole('button', { name: 'Discard' }).click();
  expect(await title.inputValue()).toBe('Unsaved');
  await page.getByRole('link', { name: 'All bio pages' }).click();
  await page.getByRole('heading', { level: 1, name: 'Bio pages' }).waitFor();
  expectClean(page);
  await page.close();
});
