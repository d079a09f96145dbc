import type { Command } from 'commander';
import { examine } from '../doctor/examine.ts';
import { printResult } from '../output.ts';

const MARKS = { ok: 'ok     ', warning: 'WARNING', error: 'ERROR  ' } as const;

/** `hoplog doctor`. */
export function doctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check settings, clock, disk, memory, addresses, and backups; exits with 1 on an error')
    .action(async (_options: object, command: Command) => {
      const findings = await examine(process.env, program.version() ?? '');
      printResult(command, { findings }, (result) =>
        result.findings
          .map(({ check, severity, message, fix }) =>
            [`${MARKS[severity]}  ${check}: ${message}`, ...(fix === null ? [] : [`         → ${fix}`])].join(
              '\n',
            ),
          )
          .join('\n'),
      );
      if (findings.some(({ severity }) => severity === 'error')) process.exitCode = 1;
    });
}
