/** Completion scripts for bash, zsh and fish. Only the ids of runs are read at completion time. */

import { type CompletedCommand, nameOf, subcommandsOf } from "./spec.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** Prints `id<tab>question` for the newest runs. */
const TASK_IDS_COMMAND = "__task-ids";

interface Named {
  name: string;
  spec: CompletedCommand[];
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const functionName = (name: string): string => `_${name.replaceAll("-", "_")}`;

/** The branches of a shell's `case`. */
const branches = (lines: [pattern: string, action: string][]): string =>
  lines.map(([pattern, action]) => `    "${pattern}") ${action} ;;`).join("\n");

/** `list --status` → its values. An option without choices completes file names. */
const valueBranches = (spec: CompletedCommand[], offer: (choices: readonly string[]) => string, files: string) =>
  branches(
    spec.flatMap(({ path, options }) =>
      options
        .filter(({ takesValue }) => takesValue)
        .map(({ flag, choices }): [string, string] => [`${path} ${flag}`, choices.length > 0 ? offer(choices) : files]),
    ),
  );

/** Pattern of all command paths; in `search watch` the second word is a question, not a command. */
const pathPattern = (spec: CompletedCommand[]): string =>
  spec
    .filter(({ path }) => path !== "")
    .map(({ path }) => `"${path}"`)
    .join("|");

function bash({ name, spec }: Named): string {
  const complete = functionName(name);
  const offered = branches(
    spec.map((command) => {
      const words = [...subcommandsOf(spec, command.path).map(nameOf), ...argumentChoices(command)];
      const flags = command.options.map(({ flag }) => flag);
      const ids = command.argument.kind === "task" ? `; ${complete}_ids` : "";
      return [command.path, `flags="${flags.join(" ")}"; words="${words.join(" ")}"${ids}`];
    }),
  );
  return `# ${name} completion for bash
${complete}_ids() {
  local id rest
  [[ "$current" == -* ]] && return
  while IFS=$'\\t' read -r id rest; do words+=" $id"; done < <("\${COMP_WORDS[0]}" ${TASK_IDS_COMMAND} 2>/dev/null)
}
${complete}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local command="" flags="" words="" index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "\${command:+$command }\${COMP_WORDS[index]}" in
    ${pathPattern(spec)}) command="\${command:+$command }\${COMP_WORDS[index]}" ;;
    esac
  done
  case "$command $previous" in
${valueBranches(spec, (choices) => `COMPREPLY=($(compgen -W "${choices.join(" ")}" -- "$current")); return`, "compopt -o default; return")}
  esac
  case "$command" in
${offered}
  esac
  [[ "$current" == -* ]] && words="$flags"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F ${complete} ${name}
`;
}

const argumentChoices = ({ argument }: CompletedCommand): readonly string[] =>
  argument.kind === "choices" ? argument.choices : [];

function zsh({ name, spec }: Named): string {
  const complete = functionName(name);
  const described = (entries: { word: string; about: string }[]): string =>
    `candidates=(${entries.map(({ word, about }) => quoted(`${word}:${about}`)).join(" ")})`;
  const flags = branches(
    spec.map(({ path, options }) => [path, described(options.map(({ flag, about }) => ({ word: flag, about })))]),
  );
  const words = branches(
    spec.flatMap((command): [string, string][] => {
      const commands = subcommandsOf(spec, command.path).map((one) => ({ word: nameOf(one), about: one.about }));
      const choices = argumentChoices(command).map((word) => ({ word, about: "" }));
      if (command.argument.kind === "task") return [[command.path, `${complete}_ids`]];
      return commands.length + choices.length === 0 ? [] : [[command.path, described([...commands, ...choices])]];
    }),
  );
  return `#compdef ${name}
# ${name} completion for zsh
${complete}_ids() {
  local id question
  while IFS=$'\\t' read -r id question; do candidates+=("$id:$question"); done < <("\${words[1]}" ${TASK_IDS_COMMAND} 2>/dev/null)
}
${complete}() {
  local command="" previous="\${words[CURRENT-1]}" index
  local -a candidates
  for ((index = 2; index < CURRENT; index++)); do
    case "\${command:+$command }\${words[index]}" in
    ${pathPattern(spec)}) command="\${command:+$command }\${words[index]}" ;;
    esac
  done
  case "$command $previous" in
${valueBranches(spec, (choices) => `candidates=(${choices.join(" ")}); _describe -V value candidates; return`, "_files; return")}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    case "$command" in
${flags}
    esac
    _describe -V -o option candidates
    return
  fi
  case "$command" in
${words}
  esac
  (( \${#candidates} )) && _describe -V ${name} candidates
}
if [[ "\${funcstack[1]}" == "${complete}" ]]; then ${complete} "$@"; else compdef ${complete} ${name}; fi
`;
}

function fish({ name, spec }: Named): string {
  const at = functionName(name);
  const escape = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const line = (path: string, rest: string): string => `complete -c ${name} -n ${escape(`${at}_at "${path}"`)} ${rest}`;
  const lines = spec.flatMap((command) => [
    ...subcommandsOf(spec, command.path).map((one) => line(command.path, `-a ${nameOf(one)} -d ${escape(one.about)}`)),
    ...argumentChoices(command).map((choice) => line(command.path, `-a ${choice}`)),
    ...(command.argument.kind === "task" ? [line(command.path, `-k -a '(${at}_ids)'`)] : []),
    ...command.options.map(({ flag, about, takesValue, choices }) => {
      const values = choices.length > 0 ? ` -x -a ${escape(choices.join(" "))}` : takesValue ? " -r -F" : "";
      return line(command.path, `-l ${flag.replace(/^--/, "")}${values} -d ${escape(about)}`);
    }),
  ]);
  return `# ${name} completion for fish
function ${at}_at
  set -l found ""
  for word in (commandline -opc)[2..]
    set -l longer (string trim -- "$found $word")
    contains -- $longer ${spec
      .filter(({ path }) => path !== "")
      .map(({ path }) => escape(path))
      .join(" ")}
    and set found $longer
  end
  test "$found" = "$argv[1]"
end
function ${at}_ids
  set -l words (commandline -opc)
  command $words[1] ${TASK_IDS_COMMAND} 2>/dev/null
end
complete -c ${name} -f
${lines.join("\n")}
`;
}

const SCRIPTS: Record<Shell, (named: Named) => string> = { bash, zsh, fish };

export const completionScript = (shell: Shell, named: Named): string => SCRIPTS[shell](named);
