import { expect } from 'vitest';
import type { TestApi } from '../../test/support/api.ts';
import { apiTest } from '../../test/support/fixtures.ts';
import { consoleBrowser, invite, signedInAs } from '../../test/support/members.ts';

const EMAIL = 'margarethe@atelier-lindqvist.example';

async function accept(api: TestApi, password: string, email = EMAIL) {
  const token = await invite(api, await api.addWorkspace(), { email });
  return consoleBrowser(api).call('POST', '/session/invite', { body: { token, password } });
}

apiTest.for([
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
] as const)('%s is refused: %s', async ([password], { api }) => {
  const { status, body } = await accept(api, password);
  expect([status, body.error.details?.[0]?.path]).toEqual([400, 'password']);
});

apiTest.for([
  ['k3Jd9f!x', 'eight characters that mean nothing'],
  ['correct horse battery', 'a phrase of lower-case words'],
  [
    '\u043f\u0440\u0430\u0432\u0438\u043b\u044c\u043d\u0430\u044f \u043b\u043e\u0448\u0430\u0434\u044c',
    'another script',
  ],
  ['tidal otter '.padEnd(200, 'q7 river-'), '200 characters'],
] as const)('%s is accepted: %s', async ([password], { api }) => {
  expect((await accept(api, password)).status).toBe(200);
});

apiTest('a change of the password is judged too, and a refused one changes nothing', async ({ api }) => {
  const member = await signedInAs(api, await api.addWorkspace(), 'analyst');
  const change = (current_password: string, password: string) =>
    member.call('POST', '/session/password', { body: { current_password, password } });
  const refused = await change('correct horse battery', 'password12');
  expect([refused.status, refused.body.error.details?.[0]?.path]).toEqual([400, 'password']);
  expect((await change('correct horse battery', 'tidal otter umbrella')).status).toBe(200);
});
