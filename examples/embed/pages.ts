/** Pages of the merchant. Every value in HTML is escaped, because users choose ids and URLs. */

export type SignedIn = { id: string; email: string; tier: 'free' | 'paid' };
export type Look = 'light' | 'dark';

/** Returns the page with the loader script, at the place of the dashboard. */
export function scriptPage(appUrl: string, key: string, user: SignedIn, look: Look): string {
  return page(
    look,
    user,
    `<script src="${attribute(appUrl)}/embed.js"
      data-key="${attribute(key)}"
      data-user-id="${attribute(user.id)}"
      data-user-email="${attribute(user.email)}"
      data-user-tier="${user.tier}"
      data-theme="${look}"
      data-accent="#0f766e"></script>`,
  );
}

/** Returns the page with a plain iframe, whose height the page sets. */
export function iframePage(appUrl: string, key: string, user: SignedIn, look: Look): string {
  const query = new URLSearchParams({
    key,
    uid: user.id,
    email: user.email,
    tier: user.tier,
    theme: look,
    accent: '0f766e',
  });
  return page(
    look,
    user,
    `<iframe id="referrals" title="Referral dashboard" allow="clipboard-write"
      src="${attribute(`${appUrl}/embed/referrals?${query}`)}"></iframe>
    <script>
      const frame = document.getElementById('referrals');
      window.addEventListener('message', (event) => {
        if (event.source !== frame.contentWindow || event.origin !== new URL(frame.src).origin) return;
        if (event.data.type === 'service:embed:height') frame.style.height = event.data.height + 'px';
      });
    </script>`,
  );
}

function page(look: Look, user: SignedIn, embed: string): string {
  const other = look === 'light' ? 'dark' : 'light';
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Acme: invite friends</title>
  <link rel="icon" href="data:,">
  <style>
    :root { color-scheme: ${look}; }
    body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif;
      background: ${look === 'light' ? '#ffffff' : '#0f1218'}; }
    iframe { width: 100%; border: 0; }
  </style>
</head>
<body>
  <header>
    <p>Acme · signed in as ${attribute(user.email)} ·
      <a href="?user=ada&amp;theme=${look}">be Ada</a> ·
      <a href="?user=grace&amp;theme=${look}">be Grace</a> ·
      <a href="?user=${attribute(user.id)}&amp;theme=${other}">${other}</a></p>
  </header>
  <main>
    ${embed}
  </main>
  <footer><p>Acme Inc.</p></footer>
</body>
</html>
`;
}

function attribute(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
