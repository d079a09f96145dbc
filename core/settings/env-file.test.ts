import { expect, test } from 'vitest';
import { problemIn } from './env-file.ts';

test.each([
  '',
  '# only a comment\n\n',
  'API_PORT=3000\nHOST = 127.0.0.1\r\nSHORT_URL=\n',
  'export LOG_LEVEL=warn # less\n',
  "A=\"two\nlines\"\nB='it'\nC=`x`\nD=it's\n",
])('%j is well-formed', (text) => {
  expect(problemIn(text)).toBeNull();
});

test.each([
  ['API_PORT=3000\nINGEST_PORT 8080\n', 'line 2 must be NAME=value'],
  ['\nAPI-PORT=3000', 'line 2 must be NAME=value'],
  ['=3000', 'line 1 must be NAME=value'],
  ['{ "API_PORT": 3000 }', 'line 1 must be NAME=value'],
  ['A=1\nB="two\nlines\nC=3', 'the quote of line 2 is never closed'],
])('%j is not: %s', (text, problem) => {
  expect(problemIn(text)).toBe(problem);
});
