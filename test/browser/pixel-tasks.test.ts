import { expect, test } from 'vitest';
import { callOf, nextOrder, open, pixelDesk, VID } from './pixel-desk.ts';

const desk = pixelDesk();

/** Records what is expensive, with the number of the run-to-completion turn that does it. */
const RECORD = `
  window.done = [];
  let turn = 0;
  const note = (what) => {
    queueMicrotask(() => { turn++ });
    done.push([turn, what]);
  };
  const wrap = (owner, name, what) => {
    const real = owner[name];
    owner[name] = function () { note(what); return real.apply(this, arguments); };
  };
  wrap(History.prototype, 'replaceState', 'address');
  wrap(Navigator.prototype, 'sendBeacon', 'beacon');
  const cookie = Object.getOwnPropertyDescriptor(Document.prototype, 'cookie');
  Object.defineProperty(Document.prototype, 'cookie', {
    get() { return cookie.get.call(this) },
    set(text) { note('cookie'); cookie.set.call(this, text) },
  });`;

type Done = [turn: number, what: string][];

test('each cookie, each beacon and the address have a task of their own', async () => {
  await desk.page.addInitScript(RECORD);
  const calls = [callOf(nextOrder()), callOf(nextOrder())].join(';');
  await open(desk, `${desk.tag.replace('async', '')}<script>${calls}</script>`, {}, `?_vid=${VID(1)}`);
  await expect
    .poll(async () => ((await desk.page.evaluate('done')) as Done).map(([, what]) => what).sort())
    .toEqual(['address', 'beacon', 'beacon', 'cookie', 'cookie']);
  const done = (await desk.page.evaluate('done')) as Done;
  expect(new Set(done.map(([turn]) => turn)).size).toBe(done.length);
  // Before any other script of the page: routers and statistics read it.
  expect(done[0]?.[1]).toBe('address');
});

test('a page that is opened without an id writes no cookie, and leaves its address', async () => {
  await desk.page.addInitScript(RECORD);
  await open(desk, desk.tag.replace('async', ''), {}, '?a=1');
  await desk.page.waitForFunction('window.hoplog && hoplog.visitor() === null');
  const sent = desk.page.waitForResponse(/\/collect$/);
  await desk.page.evaluate(callOf(nextOrder()));
  await sent;
  expect(((await desk.page.evaluate('done')) as Done).map(([, what]) => what)).toEqual(['beacon']);
});
