import type { Started } from './supervisor.ts';

/**
 * Returns the ready line for standard output, in JSON.
 *
 * @param isRead false for a person, who gets the keys from {@link readyText}, each on a line of its own
 */
export function readyLine({ config, demo }: Started, isRead = true): string {
  return JSON.stringify({
    event: 'ready',
    api_url: `${config.baseUrl}/api/v1`,
    docs_url: `${config.baseUrl}/docs`,
    short_url: config.shortUrl,
    public_url: config.publicUrl,
    data_dir: config.dataDir,
    ...(demo && isRead && { console_url: demo.console_url, demo }),
  });
}

/** Returns the ready message for a terminal. */
export function readyText({ config, demo }: Started, seconds: number): string {
  const lines = [
    '',
    `Hoplog is running (started in ${seconds.toFixed(1)} s). Ctrl-C stops it.`,
    '',
    `  API          ${config.baseUrl}/api/v1`,
    `  Reference    ${config.baseUrl}/docs`,
    `  Short links  ${config.shortUrl}`,
    `  Console      ${config.appUrl}/console`,
    '',
  ];
  if (demo) {
    lines.push(
      `  Workspace "${demo.workspace}" has these keys, which are shown only once:`,
      `    secret       ${demo.secret_key}`,
      `    publishable  ${demo.publishable_key}`,
      '',
      '  Open the console as its owner. This link works once, within 15 minutes',
      '  (for a new one, run npx hoplog console invite --workspace demo):',
      `    ${demo.console_url}`,
      '',
    );
  } else {
    lines.push(
      '  Keys are shown only once. For another one:',
      '    npx hoplog key create --workspace demo --kind secret',
      '  To sign in to the console again:',
      '    npx hoplog console invite --workspace demo',
      '',
    );
  }
  return `${lines.join('\n')}\n`;
}
