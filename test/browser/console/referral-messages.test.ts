import { expect, test } from 'vitest';
import type { MessageRecord } from '../../../api/messages/schemas.ts';
import { type MailServer, startMailServer } from '../../support/mail-server.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, expectGood, expectNotice, startConsoleSite } from './console-site.ts';
import { LONG, merchantOf, PATIENCE, row } from './referral-shop.ts';

let site: ConsoleSite;
let server: MailServer;

inChromium(async () => {
  server = await startMailServer();
  site = await startConsoleSite({ SMTP_URL: server.url, MAIL_FROM: 'Corner Shop <mail@shop.example>' });
  return async () => {
    await site.close();
    await server.close();
  };
});

test('a message is written, shown, and sent to a group, and what became of it is listed', LONG, async () => {
  const shop = merchantOf(site);
  const program = await shop.program({ name: 'Friends of the shop', commission_rate: 20 });
  const grace = await shop.enroll('grace', program, { name: 'Grace Hopper' });
  const ada = await shop.enroll('ada', program);
  await shop.enroll('alan', program);
  const group = await site.api<{ id: string }>('/partner-groups', {
    program_id: program.id,
    name: 'Newsletters',
  });
  for (const { partner_id } of [grace, ada])
    await site.api(`/enrollments/${partner_id}`, { group_id: group.id }, 'PATCH');
  const page = await site.open('/referrals?tab=messages');
  await page.getByText('No messages yet').waitFor(PATIENCE);
  await page.getByRole('button', { name: 'Write a message' }).click();
  const dialog = page.getByRole('dialog', { name: 'Write a message' });
  await dialog.getByLabel('To').selectOption('The group Newsletters');
  await dialog.getByLabel('Subject').fill('Higher commission in December');
  await dialog.getByLabel('Text').fill('Hello {nmae},\n\nyou earn {rate} of each sale: {link}');
  await dialog.getByRole('button', { name: 'Preview' }).click();
  await dialog.getByText(/has the unknown field/).waitFor(PATIENCE);
  await dialog.getByLabel('Text').fill('Hello {name|there},\n\nyou earn {rate} of each sale: {link}');
  await expectGood(page, 'message-dialog');
  await dialog.getByRole('button', { name: 'Preview' }).click();
  const preview = dialog.getByRole('region', { name: 'Preview' });
  await preview.getByText(`you earn 20% of each sale: ${grace.referral_link}`).waitFor(PATIENCE);
  await expectGood(page, 'message-preview');
  await dialog.getByRole('button', { name: 'Send to 2 referrers' }).click();
  await expectNotice(page, 'Message sent');
  const mail = await server.untilMailTo('ada@mail.example', 'Higher commission in December');
  expect(mail.text).toContain('Hello there,');
  const sent = async () => (await site.api<{ messages: MessageRecord[] }>('/messages')).messages[0];
  await expect.poll(async () => (await sent())?.delivered, PATIENCE).toBe(2);
  await page.reload();
  await row(page, 'List of messages', 'Higher commission in December')
    .getByText('Group Newsletters')
    .waitFor(PATIENCE);
  await page.getByRole('button', { name: 'Read the message Higher commission in December' }).click();
  await page.getByText('Hello {name|there},').waitFor(PATIENCE);
  await expectGood(page, 'messages');
  await page.close();
});
