import { expect, test } from 'vitest';
import { errorOf, HoplogError } from '../../sdk/typescript/src/errors.ts';
import { keepListening, type Sent } from './listening.ts';

const PAGE = '<html>\n<head><title>404 Not Found</title></head>\n<hr>nginx\n</html>\n';
const ofProxy = () => errorOf(new Response(PAGE, { status: 404 }), PAGE);
const ended = () => new HoplogError({ status: 404, code: 'not_found', message: 'the listener has ended' });
const unavailable = () =>
  new HoplogError({ status: 502, code: 'unexpected_response', message: 'bad gateway' });
const refused = () => new HoplogError({ status: 401, code: 'unauthorized', message: 'unknown key' });

/** A connection that sends a text, and ends. */
const stream = (text: string) => new Response(text);
const READY = 'id: l.0\nevent: ready\ndata: {"secret":"whsec_x","events":[]}\n\n';
const event = (number: number) =>
  `id: l.${number}\nevent: event\ndata: {"id":"${number}","type":"sale.created","headers":{},"body":""}\n\n`;

/** Listens through these responses, an hour of virtual time at most. The pauses pass in virtual time. */
async function listen(next: (call: number) => Response | HoplogError) {
  let ms = 0;
  let calls = 0;
  const after: (string | undefined)[] = [];
  const got: string[] = [];
  const notes: string[] = [];
  const listening = {
    open: async (position: string | undefined) => {
      after.push(position);
      const answer = next(calls++);
      if (answer instanceof HoplogError) throw answer;
      return answer;
    },
    onReady: () => void got.push('ready'),
    onEvent: async ({ id }: Sent) => void got.push(id),
    note: (text: string) => void notes.push(text),
    pause: async (waited: number) => {
      ms += waited;
      if (ms > 3_600_000) throw new Error('it waits for ever');
    },
    now: () => ms,
  };
  const error = await keepListening(listening).then(
    () => null,
    (thrown: Error) => thrown,
  );
  return { after, got, notes, calls, ms, error: error?.message };
}

test('a 404 of a proxy at the first call is an error, which shows what the proxy says', async () => {
  const { calls, error } = await listen(ofProxy);
  expect([calls, error]).toEqual([1, 'HTTP 404 is not a response of Hoplog: 404 Not Found nginx']);
});

test('a 404 of a proxy in a session is waited for until the session has ended, and is then an error', async () => {
  const { got, notes, ms, error } = await listen((call) =>
    call === 0 ? stream(READY + event(1)) : ofProxy(),
  );
  expect(got).toEqual(['ready', '1']);
  expect(notes).toEqual(['HTTP 404 is not a response of Hoplog: 404 Not Found nginx; waiting']);
  expect(error).toBe('HTTP 404 is not a response of Hoplog: 404 Not Found nginx');
  expect(ms).toBeGreaterThanOrEqual(300_000);
  expect(ms).toBeLessThan(320_000);
});

test('a 404 of a proxy after a long outage is waited for', async () => {
  const { after, got, ms, error } = await listen((call) => {
    if (call === 0) return stream(READY);
    if (call < 100) return unavailable();
    return call === 100 ? ofProxy() : call === 101 ? stream(event(1)) : refused();
  });
  expect(ms).toBeGreaterThan(300_000);
  expect([got, after.at(101), error]).toEqual([['ready', '1'], 'l.0', 'unknown key']);
});

test('a session resumes behind the last forwarded event, and begins again when the API has ended it', async () => {
  const answers = [
    stream(READY + event(1)),
    ofProxy(),
    stream(event(2)),
    ended(),
    stream(READY.replace('l.', 'm.')),
    refused(),
  ];
  const { after, got, notes, error } = await listen((call) => answers[call] ?? refused());
  expect(got).toEqual(['ready', '1', '2', 'ready']);
  expect(after).toEqual([undefined, 'l.1', 'l.1', 'l.2', undefined, 'm.0']);
  expect(notes.map((note) => note.slice(0, 20))).toEqual(['HTTP 404 is not a re', 'the service has ende']);
  expect(error).toBe('unknown key');
});
