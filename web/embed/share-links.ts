/** Share URLs that need no third-party script. Pure. */

export type ShareLink = { place: string; href: string };

const INVITATION = 'I think you will like this:';

/** @param link the referral link, absolute */
export function shareLinks(link: string): ShareLink[] {
  const parameters = (fields: Record<string, string>) =>
    Object.entries(fields)
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join('&');
  return [
    {
      place: 'Email',
      href: `mailto:?${parameters({ subject: 'An invitation', body: `${INVITATION}\n\n${link}` })}`,
    },
    { place: 'X', href: `https://x.com/intent/post?${parameters({ text: INVITATION, url: link })}` },
    {
      place: 'LinkedIn',
      href: `https://www.linkedin.com/sharing/share-offsite/?${parameters({ url: link })}`,
    },
    { place: 'WhatsApp', href: `https://wa.me/?${parameters({ text: `${INVITATION} ${link}` })}` },
  ];
}
