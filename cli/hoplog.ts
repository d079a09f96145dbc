#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
import { createProgram, report } from './program.ts';

// A reader such as `head` may have enough.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 1));

try {
  const program = await createProgram(process.argv.slice(2));
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error);
}
