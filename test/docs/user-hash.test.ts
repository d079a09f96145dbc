import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { userHash } from '../../core/access/user-hash.ts';
import { readDocument } from './markdown.ts';

const SECRET = 'is_live_5f0c2d9a41b7e86f3d5a9c1e7b2f4860d8a6c3e1f9b75d24';
const USER = 'Zoë 💥 "1"';
const TEXT = JSON.stringify(USER);

/** Returns the line of the embed's guide in this language, without its comment. */
function lineOf(language: string): string {
  const block = new RegExp(`^\`\`\`${language}\n(?:#|//) .*\n(.*)\n\`\`\`$`, 'm').exec(
    readDocument('docs/embed.md'),
  );
  if (!block?.[1]) throw new Error(`docs/embed.md has no line of ${language}`);
  // The formatter of the guide ends statements.
  return language === 'js' ? block[1].replace(/;$/, '') : block[1];
}

const has = (command: string) => spawnSync(command, ['version']).error === undefined;

/** For each language, how a line of it is run, and printed. */
const PROGRAMS: Record<string, { command: string; run: (line: string) => string }> = {
  js: {
    command: 'node',
    run: (line) =>
      execFileSync('node', ['-e', `const secret = '${SECRET}', userId = ${TEXT}; console.log(${line})`], {
        encoding: 'utf8',
      }),
  },
  python: {
    command: 'python3',
    run: (line) =>
      execFileSync(
        'python3',
        ['-c', `import hashlib, hmac\nsecret = '${SECRET}'\nuser_id = '${USER}'\nprint(${line})`],
        { encoding: 'utf8' },
      ),
  },
  php: {
    command: 'php',
    run: (line) =>
      execFileSync('php', ['-r', `$secret = '${SECRET}'; $userId = '${USER}'; echo ${line};`], {
        encoding: 'utf8',
      }),
  },
  ruby: {
    command: 'ruby',
    run: (line) =>
      execFileSync('ruby', ['-ropenssl', '-e', `secret = '${SECRET}'\nuser_id = '${USER}'\nputs(${line})`], {
        encoding: 'utf8',
      }),
  },
  go: {
    command: 'go',
    run(line) {
      const file = join(tmpdir(), `hoplog-user-hash-${process.pid}.go`);
      writeFileSync(
        file,
        `package main\nimport ("crypto/hmac"; "crypto/sha256"; "encoding/hex"; "fmt")\nfunc main() {\nsecret, userID := "${SECRET}", ${TEXT}\n${line}\nfmt.Println(userHash)\n}\n`,
      );
      try {
        return execFileSync('go', ['run', file], { encoding: 'utf8' });
      } finally {
        rmSync(file);
      }
    },
  },
};

const installed = Object.entries(PROGRAMS).filter(([, { command }]) => has(command));

test('the guide has a line for each language, and those of Node and Python run here', () => {
  for (const language of Object.keys(PROGRAMS)) expect(lineOf(language)).toMatch(/secret/);
  expect(installed.map(([language]) => language)).toEqual(expect.arrayContaining(['js', 'python']));
});

test.each(installed)('the line of %s makes the user_hash that the API accepts', (language, { run }) => {
  expect(run(lineOf(language)).trim()).toBe(userHash(SECRET, USER));
});
