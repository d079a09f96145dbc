/** Share URLs that need no third-party script. */

import { words } from './words.ts';

export type ShareLink = { place: string; href: string };

/** @param link the referral link, absolute */
export function shareLinks(link: string): ShareLink[] {
  const parameters = (fields: Record<string, string>) =>
    Object.entries(fields)
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join('&');
  const invitation = words('invitation');
  return [
    {
      place: words('email'),
      href: `mailto:?${parameters({ subject: words('invitation_subject'), body: `${invitation}\n\n${link}` })}`,
    },
    { place: 'X', href: `https://x.com/intent/post?${parameters({ text: invitation, url: link })}` },
    {
      place: 'LinkedIn',
      href: `https://www.linkedin.com/sharing/share-offsite/?${parameters({ url: link })}`,
    },
    { place: 'WhatsApp', href: `https://wa.me/?${parameters({ text: `${invitation} ${link}` })}` },
  ];
}
