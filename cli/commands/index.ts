import type { Command } from 'commander';

/** Adds a command, or several, to the program. */
type Add = (program: Command) => void;

type Modules = Readonly<Record<string, () => Promise<Add>>>;

/** Commands that call the API with a key of a workspace. They read no setting of the service, and no `.env`. */
const USER_COMMANDS: Modules = {
  login: async () => (await import('./login.ts')).loginCommands,
  logout: async () => (await import('./login.ts')).loginCommands,
  whoami: async () => (await import('./login.ts')).loginCommands,
  links: async () => (await import('./links.ts')).linksCommands,
  clicks: async () => (await import('./clicks.ts')).clicksCommands,
  query: async () => (await import('./query.ts')).queryCommand,
  listen: async () => (await import('./listen.ts')).listenCommands,
  trigger: async () => (await import('./listen.ts')).listenCommands,
  call: async () => (await import('./call.ts')).callCommand,
  mcp: async () => (await import('./mcp.ts')).mcpCommand,
  completion: async () => (await import('./completion.ts')).completionCommand,
  'completion-words': async () => (await import('./completion.ts')).completionWordsCommand,
};

/** Commands that use the databases of a deployment. */
const OPERATOR_COMMANDS: Modules = {
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
  replica: async () => (await import('./replica.ts')).replicaCommands,
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
 * The module of each command, in the order of the help. Only the module of the requested command is loaded: all of them
 * take three times as long.
 */
export const COMMANDS: Modules = { ...USER_COMMANDS, ...OPERATOR_COMMANDS };

/** Whether a command is one of users, by its name. */
export const isUserCommand = (name: string): boolean => Object.hasOwn(USER_COMMANDS, name);

const USERS = 'Your workspace (needs a login, or HOPLOG_URL and HOPLOG_KEY):';
const OPERATORS = 'Operation of a service (beside a running npm start, or with its settings):';

/**
 * Adds the command that the arguments name, which is the first one that is not an option. Without one it adds all, for
 * the help and for errors of usage.
 */
export async function addCommands(program: Command, args: readonly string[]): Promise<void> {
  const named = args.find((arg) => !arg.startsWith('-')) ?? '';
  const loads = Object.hasOwn(COMMANDS, named) ? [COMMANDS[named]] : Object.values(COMMANDS);
  const added = await Promise.all(loads.map((load) => load?.()));
  for (const add of new Set(added)) add?.(program);
  for (const command of program.commands) {
    command.helpGroup(isUserCommand(command.name()) ? USERS : OPERATORS);
  }
}
