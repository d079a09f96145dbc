import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApi, testApi } from '../../test/support/api.ts';
import { consoleBrowser, invite, signedInAs } from '../../test/support/members.ts';

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});
afterAll(() => api.close());

const EMAIL = 'margarethe@atelier-lindqvist.example';

async function accept(password: string, email = EMAIL) {
  const token = await invite(api, await api.addWorkspace(), { email });
  return consoleBrowser(api).call('POST', '/session/invite', { body: { token, password } });
}

test.each([
  ['1234567890', 'a sequence'],
  ['password12', 'a common password'],
  ['P@ssw0rd123', 'a common one in disguise'],
  ['aaaaaaaaaaaa', 'a repetition'],
  ['abc'.repeat(60), 'a long repetition'],
  ['qwertyuiop', 'keys in a row'],
  ['margarethe1', 'the own name'],
  [EMAIL, 'the own email'],
  ['hoplog1', 'too short'],
  ['hoplog12', 'the name of the service'],
])('%s is refused: %s', async (password) => {
  const { status, body } = await accept(password);
  expect([status, body.error.details?.[0]?.path]).toEqual([400, 'password']);
});

test.each([
  ['k3Jd9f!x', 'eight characters that mean nothing'],
  ['correct horse battery', 'a phrase of lower-case words'],
  [
    '\u043f\u0440\u0430\u0432\u0438\u043b\u044c\u043d\u0430\u044f \u043b\u043e\u0448\u0430\u0434\u044c',
    'another script',
  ],
  ['tidal otter '.padEnd(200, 'q7 river-'), '200 characters'],
])('%s is accepted: %s', async (password) => {
  expect((await accept(password)).status).toBe(200);
});

test('a change of the password is judged too, and a refused one changes nothing', async () => {
  const member = await signedInAs(api, await api.addWorkspace(), 'analyst');
  const change = (current_password: string, password: string) =>
    member.call('POST', '/session/password', { body: { current_password, password } });
  const refused = await change('correct horse battery', 'password12');
  expect([refused.status, refused.body.error.details?.[0]?.path]).toEqual([400, 'password']);
  expect((await change('correct horse battery', 'tidal otter umbrella')).status).toBe(200);
});
