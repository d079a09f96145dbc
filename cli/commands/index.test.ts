import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addCommands, COMMANDS } from './index.ts';

const namesOf = (program: Command) => program.commands.map((command) => command.name());

async function namesFor(args: string[]): Promise<string[]> {
  const program = new Command('hoplog');
  await addCommands(program, args);
  return namesOf(program);
}

test('each command is added by the module of its name, alone or with others of its module', async () => {
  for (const name of Object.keys(COMMANDS)) {
    const added = await namesFor(['--json', name, 'list']);
    expect(added, name).toContain(name);
    expect(added.length, name).toBeLessThan(4);
  }
});

test.each([
  ['no argument', []],
  ['only options', ['--help']],
  ['an unknown command', ['frobnicate']],
  ['a name of an object', ['constructor']],
  ['help', ['help', 'workspace']],
])('with %s all commands are added, each once', async (_, args) => {
  expect(await namesFor(args)).toEqual(Object.keys(COMMANDS));
});
