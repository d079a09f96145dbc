import type { Started } from './supervisor.ts';

/** The one line on standard output that says that the service is up, for programs. */
export function readyLine({ config, demo }: Started): string {
  return JSON.stringify({
    event: 'ready',
    api_url: `${config.baseUrl}/api/v1`,
    docs_url: `${config.baseUrl}/docs`,
    short_url: config.shortUrl,
    public_url: config.publicUrl,
    data_dir: config.dataDir,
    ...(demo && { console_url: demo.console_url, demo }),
  });
}

/** The same for a person at a terminal. */
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
      `  Workspace "${demo.workspace}" has these keys. They are shown this once:`,
      `    secret       ${demo.secret_key}`,
      `    publishable  ${demo.publishable_key}`,
      '',
      '  Open the console as its owner with this link, once, within 15 minutes',
      '  (later: npx hoplog console invite --workspace demo):',
      `    ${demo.console_url}`,
      '',
    );
  }
  return `${lines.join('\n')}\n`;
}
