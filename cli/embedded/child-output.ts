import type { Readable } from 'node:stream';

const KEPT_LINES = 40;

/**
 * Calls back with each line of a child's output, and retains the last ones for an error message.
 *
 * @returns a function that returns the retained lines as one text
 */
export function followLines(stream: Readable | null, onLine: (line: string) => void): () => string {
  const kept: string[] = [];
  let rest = '';
  stream?.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.trim() === '') continue;
      kept.push(line);
      if (kept.length > KEPT_LINES) kept.shift();
      onLine(line);
    }
  });
  return () => [...kept, rest].join('\n').trim();
}
