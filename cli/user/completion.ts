import type { Command, Option } from 'commander';
import { DIMENSIONS, METRICS } from '../../core/analytics/dimensions.ts';
import { CREATABLE_CHANNELS } from '../../core/enrich/channels.ts';
import { EVENT_TYPES } from '../../core/webhooks/event-types.ts';
import { OPERATION_IDS } from './client.ts';

/** Values of options and arguments that commander does not know, by command and name. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  'query --metrics': METRICS,
  'query --by': DIMENSIONS,
  'links create --channel': CREATABLE_CHANNELS,
  'listen --events': EVENT_TYPES,
  'trigger type': EVENT_TYPES,
  'call operation': OPERATION_IDS,
};

/** A word that may come next, and what it does. */
export type Candidate = { word: string; does: string };

/**
 * Returns the words that may replace the last of a command line.
 *
 * @param words what follows `hoplog`; the last one is unfinished, and may be empty
 */
export function candidatesFor(program: Command, words: readonly string[]): Candidate[] {
  const last = words.at(-1) ?? '';
  let command = program;
  const path: string[] = [];
  let pending: Option | undefined;
  let given = 0;
  for (const word of words.slice(0, -1)) {
    if (pending !== undefined) {
      pending = undefined;
      continue;
    }
    if (word.startsWith('-')) {
      const option = word.includes('=') ? undefined : optionOf(command, word);
      if (option?.required || option?.optional) pending = option;
      continue;
    }
    const child = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (child === undefined) given += 1;
    else {
      command = child;
      path.push(child.name());
    }
  }
  if (pending !== undefined)
    return inList(pending.argChoices ?? VALUES[[...path, pending.long].join(' ')], last);
  if (last.startsWith('-')) return matching(optionsOf(command), last);
  if (command.commands.length > 0) {
    return matching(
      command
        .createHelp()
        .visibleCommands(command)
        .map((one) => ({ word: one.name(), does: one.description() })),
      last,
    );
  }
  const argument = command.registeredArguments[given];
  if (argument === undefined) return [];
  return inList(argument.argChoices ?? VALUES[[...path, argument.name()].join(' ')], last);
}

const optionOf = (command: Command, word: string) =>
  command.options.find(({ long, short }) => long === word || short === word);

const optionsOf = (command: Command): Candidate[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .map((option) => ({ word: option.long ?? option.short ?? '', does: option.description }));

const matching = (all: readonly Candidate[], last: string) => all.filter(({ word }) => word.startsWith(last));

/** Values of a list that commas separate: the last one is completed. */
function inList(values: readonly string[] | undefined, last: string): Candidate[] {
  const before = last.slice(0, last.lastIndexOf(',') + 1);
  return matching(
    (values ?? []).map((value) => ({ word: before + value, does: '' })),
    last,
  );
}

/** The shells with a completion, and the script of each. It asks the command itself for words. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** Hidden command that prints the candidates of a line, one in a line: the word, a tab, and what it does. */
export const WORDS_COMMAND = 'completion-words';

const SCRIPTS: Readonly<Record<Shell, string>> = {
  // A colon, as in `time:day`, begins a word of bash: what is before it is taken off the candidates.
  bash: `# hoplog completion for bash: source <(hoplog completion bash)
_hoplog() {
  local line=\${COMP_LINE:0:COMP_POINT} word
  local -a words
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  local last=\${words[\${#words[@]}-1]} cut=''
  [[ $last == *:* && $COMP_WORDBREAKS == *:* ]] && cut=\${last%"\${last##*:}"}
  COMPREPLY=()
  while IFS=$'\\t' read -r word _; do
    COMPREPLY+=("\${word#"$cut"}")
  done < <(hoplog ${WORDS_COMMAND} -- "\${words[@]:1}" 2> /dev/null)
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *, ]]; then compopt -o nospace; fi
}
complete -o default -F _hoplog hoplog
`,
  zsh: `#compdef hoplog
# hoplog completion for zsh: hoplog completion zsh > "\${fpath[1]}/_hoplog"
_hoplog() {
  local word does
  local -a found
  while IFS=$'\\t' read -r word does; do
    found+=("\${word//:/\\\\:}\${does:+:$does}")
  done < <(hoplog ${WORDS_COMMAND} -- "\${(@)words[2,CURRENT]}" 2> /dev/null)
  if (( \${#found} )); then _describe 'hoplog' found; else _files; fi
}
if [[ $funcstack[1] == _hoplog ]]; then _hoplog "$@"; else compdef _hoplog hoplog; fi
`,
  fish: `# hoplog completion for fish: hoplog completion fish > ~/.config/fish/completions/hoplog.fish
function __hoplog_words
  set -l words (commandline -opc) (commandline -ct)
  hoplog ${WORDS_COMMAND} -- $words[2..-1] 2> /dev/null
end
complete -c hoplog -f -a '(__hoplog_words)'
`,
};

/** Returns the completion script of a shell. */
export const completionScript = (shell: Shell): string => SCRIPTS[shell];
