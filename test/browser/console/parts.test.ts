import { expect, test, vi } from 'vitest';
import { inChromium } from '../in-chromium.ts';
import { type ConsolePage, type ConsoleSite, consoleSite, expectGood, SCHEMES } from './console-site.ts';
import { LONG, PATIENCE } from './link-desk.ts';

vi.setConfig({ testTimeout: LONG });

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

/**
 * Runs in the page: what each element of a part looks like. Pixels would differ between machines, whose fonts differ;
 * colors, spaces and borders do not, nor do heights whose line height is a number. Widths depend on fonts and are left
 * out. Icons and the chart are one element each. A change that is meant:
 * `npx vitest run test/browser/console/parts.test.ts -u`.
 */
const LOOKS = `(() => {
  const shown = (color) => (/^rgba\\(.*, 0\\)$/.test(color) ? '-' : color.replaceAll(' ', ''));
  const lineOf = (one, depth) => {
    const style = getComputedStyle(one);
    const border = ['top', 'right', 'bottom', 'left'].map((side) => parseFloat(style.getPropertyValue('border-' + side + '-width')) || 0);
    const facts = [
      ' '.repeat(depth) + one.tagName.toLowerCase(),
      'text:' + shown(style.color),
      'ground:' + shown(style.backgroundColor),
      ...(style.fill !== 'rgb(0, 0, 0)' ? ['fill:' + shown(style.fill)] : []),
      ...(style.stroke !== 'none' ? ['stroke:' + shown(style.stroke)] : []),
      ...(border.some((width) => width > 0) ? ['border:' + border.join('/') + ' ' + shown(style.borderTopColor)] : []),
      'font:' + style.fontSize + '/' + style.fontWeight,
      'padding:' + style.padding,
      ...(style.borderRadius !== '0px' ? ['radius:' + style.borderRadius] : []),
      ...(style.display === 'inline' || style.lineHeight === 'normal' ? [] : ['height:' + Math.round(one.getBoundingClientRect().height / 2) * 2]),
    ];
    return facts.join(' ');
  };
  const walk = (one, depth) => {
    if (one.getClientRects().length === 0) return [];
    const isWhole = (one.tagName === 'svg' && !one.classList.contains('sparkline')) || one.classList.contains('time-chart');
    const inner = isWhole ? [] : [...one.children];
    return [lineOf(one, depth), ...inner.flatMap((child) => walk(child, depth + 1))];
  };
  return [...document.querySelectorAll('[data-part]')].flatMap((part) => [
    '[' + part.dataset.part + ']',
    ...[...part.children].flatMap((child) => walk(child, 0)),
  ]).join('\\n') + '\\n';
})()`;

/**
 * Runs in the page: the rings of all controls with the focus of the keyboard. For a hidden control, the element that
 * represents it has the ring.
 */
const RINGS = `(() => {
  const ringOf = (one) => {
    const style = getComputedStyle(one);
    return style.outlineStyle === 'none' ? null : [style.outlineColor, style.outlineStyle, style.outlineWidth].join(' ');
  };
  const isSeen = (one) => getComputedStyle(one).opacity !== '0' && one.getBoundingClientRect().width > 1;
  const controls = [...document.querySelectorAll('main :is(a[href], button, input, select, textarea, summary, [tabindex="0"])')]
    .filter((one) => !one.disabled && one.getClientRects().length > 0);
  const rings = controls.map((one) => {
    one.focus({ focusVisible: true });
    const shown = isSeen(one) ? one : [one.nextElementSibling, one.parentElement].find((next) => next && ringOf(next)) ?? one;
    return ringOf(shown) ?? 'none: ' + one.outerHTML.slice(0, 160);
  });
  return [...new Set(rings)];
})()`;

/** Waits until the colors have faded to those of the theme. */
async function settle(page: ConsolePage, scheme: string): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme as 'light' | 'dark', reducedMotion: 'reduce' });
  await page.waitForSelector(`html[data-mantine-color-scheme="${scheme}"]`);
  const moves = 'document.getAnimations().some((one) => one instanceof CSSTransition)';
  await expect.poll(() => page.evaluate(moves), PATIENCE).toBe(false);
}

test('every part is on one page, and looks as it did in both themes', async () => {
  const page = await site.open('/parts');
  await page.getByRole('img', { name: 'Sample: clicks by day' }).waitFor();
  await page.mouse.move(0, 0);
  for (const scheme of SCHEMES) {
    await settle(page, scheme);
    await expect(await page.evaluate(LOOKS)).toMatchFileSnapshot(`./looks/parts-${scheme}.txt`);
  }
  await expectGood(page, 'parts');
  // Whatever can have the focus of the keyboard shows it by the same ring.
  await settle(page, 'light');
  expect(await page.evaluate(RINGS)).toEqual(['rgb(21, 115, 67) solid 2px']);
  await page.close();
});
