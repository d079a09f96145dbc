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
    ...(demo && { demo }),
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
    '',
  ];
  if (demo) {
    lines.push(
      `  Workspace "${demo.workspace}" has these keys. They are shown this once:`,
      `    secret       ${demo.secret_key}`,
      `    publishable  ${demo.publishable_key}`,
      '',
    );
  }
  return `${lines.join('\n')}\n`;
}
