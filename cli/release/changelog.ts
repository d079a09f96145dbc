/**
 * Returns the section of a version, without its heading.
 *
 * @param changelog in the format of Keep a Changelog
 * @param heading a version such as `1.2.0`, or `Unreleased`
 * @throws Error when the section is missing or empty
 */
export function changelogSection(changelog: string, heading: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((one) => one.startsWith(`[${heading}]`));
  const text = section?.split('\n').slice(1).join('\n').trim();
  if (!text) throw new Error(`CHANGELOG.md has no text under "## [${heading}]"`);
  return `${text}\n`;
}
