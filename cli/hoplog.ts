#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
import { createProgram, report } from './program.ts';

try {
  const program = await createProgram(process.argv.slice(2));
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error);
}
