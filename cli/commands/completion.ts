import { Argument, type Command } from 'commander';
import { createProgram } from '../program.ts';
import { candidatesFor, completionScript, SHELLS, type Shell, WORDS_COMMAND } from '../user/completion.ts';

/** `hoplog completion`. */
export function completionCommand(program: Command): void {
  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .action((shell: Shell) => void process.stdout.write(completionScript(shell)));
}

/** The hidden command that the scripts call. */
export function completionWordsCommand(program: Command): void {
  program
    .command(WORDS_COMMAND, { hidden: true })
    .argument('[words...]')
    .action(async (words: string[]) => {
      // Other commands may begin with the same letters as an unfinished one.
      const all = await createProgram(words.length > 1 ? words : []);
      const lines = candidatesFor(all, words).map(({ word, does }) => (does ? `${word}\t${does}` : word));
      if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
    });
}
