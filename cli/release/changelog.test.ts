import { expect, test } from 'vitest';
import { changelogSection } from './changelog.ts';

const TEXT = `# Changelog

## [Unreleased]

## [1.2.0] - 2026-11-25

### Added

- One.

## [1.2.0-rc.1] - 2026-11-20

- Two.
`;

test('a section ends where the next one begins, and a version is not taken for its prefix', () => {
  expect(changelogSection(TEXT, '1.2.0')).toBe('### Added\n\n- One.\n');
  expect(changelogSection(TEXT, '1.2.0-rc.1')).toBe('- Two.\n');
});

test.each(['Unreleased', '1.3.0', '1.2'])('a missing or empty section is refused: %s', (heading) => {
  expect(() => changelogSection(TEXT, heading)).toThrow(`CHANGELOG.md has no text under "## [${heading}]"`);
});
