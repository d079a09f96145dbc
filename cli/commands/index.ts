import type { Command } from 'commander';

/** Adds a command, or several, to the program. */
type Add = (program: Command) => void;

/**
 * The module of each command, in the order of the help. Only the module of the requested command is loaded: all of them
 * take three times as long.
 */
export const COMMANDS: Readonly<Record<string, () => Promise<Add>>> = {
  workspace: async () => (await import('./workspace.ts')).workspaceCommands,
  key: async () => (await import('./key.ts')).keyCommands,
  analyst: async () => (await import('./analyst.ts')).analystCommands,
  partner: async () => (await import('./partner.ts')).partnerCommands,
  console: async () => (await import('./console.ts')).consoleCommands,
  enrollment: async () => (await import('./enrollment.ts')).enrollmentCommands,
  ledger: async () => (await import('./ledger.ts')).ledgerCommands,
  payout: async () => (await import('./payout.ts')).payoutCommands,
  rate: async () => (await import('./rate.ts')).rateCommands,
  link: async () => (await import('./link.ts')).linkCommands,
  domain: async () => (await import('./domain.ts')).domainCommands,
  export: async () => (await import('./export.ts')).exportCommands,
  import: async () => (await import('./import.ts')).importCommands,
  demo: async () => (await import('./demo.ts')).demoCommands,
  'dead-letter': async () => (await import('./dead-letter.ts')).deadLetterCommands,
  stream: async () => (await import('./stream.ts')).streamCommands,
  partitions: async () => (await import('./partitions.ts')).partitionCommands,
  visitor: async () => (await import('./visitor.ts')).visitorCommands,
  audit: async () => (await import('./audit.ts')).auditCommands,
  member: async () => (await import('./member.ts')).memberCommands,
  person: async () => (await import('./person.ts')).personCommands,
  migrate: async () => (await import('./operations.ts')).operationCommands,
  status: async () => (await import('./operations.ts')).operationCommands,
  backup: async () => (await import('./backup.ts')).backupCommands,
  restore: async () => (await import('./backup.ts')).backupCommands,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
};

/**
 * Adds the command that the arguments name, which is the first one that is not an option. Without one it adds all, for
 * the help and for errors of usage.
 */
export async function addCommands(program: Command, args: readonly string[]): Promise<void> {
  const named = args.find((arg) => !arg.startsWith('-')) ?? '';
  const loads = Object.hasOwn(COMMANDS, named) ? [COMMANDS[named]] : Object.values(COMMANDS);
  const added = await Promise.all(loads.map((load) => load?.()));
  for (const add of new Set(added)) add?.(program);
}
