import type { Command } from 'commander';
import { currentLogin } from '../user/login.ts';

/** `hoplog mcp`. */
export function mcpCommand(program: Command): void {
  program
    .command('mcp')
    .description('serve the tools for models (MCP) on standard input and output, with the key of the login')
    .action(async () => {
      const login = currentLogin();
      const { relay } = await import('../user/mcp-relay.ts');
      await relay(login);
    });
}
