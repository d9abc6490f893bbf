/** Completion scripts. At every Tab they ask this program what the word can be, so each shell needs a few lines only. */

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** Its last argument is the word to complete. Not in the list of commands. */
export const COMPLETE = "__complete";
/** Instead of candidates: the shell completes file names. */
export const FILES = ":files";

const bash = (name: string, complete: string): string => `# ${name} completion for bash
${complete}() {
  local word about
  COMPREPLY=()
  while IFS=$'\\t' read -r word about; do
    if [[ "$word" == "${FILES}" ]]; then compopt -o default; else COMPREPLY+=("$word"); fi
  done < <("\${COMP_WORDS[0]}" ${COMPLETE} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F ${complete} ${name}
`;

const zsh = (name: string, complete: string): string => `#compdef ${name}
# ${name} completion for zsh
${complete}() {
  local word about
  local -a candidates
  while IFS=$'\\t' read -r word about; do
    if [[ "$word" == "${FILES}" ]]; then _files; return; fi
    candidates+=("$word:$about")
  done < <("\${words[1]}" ${COMPLETE} "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#candidates} )) && _describe -V ${name} candidates
}
if [[ "\${funcstack[1]}" == "${complete}" ]]; then ${complete} "$@"; else compdef ${complete} ${name}; fi
`;

const fish = (name: string, complete: string): string => `# ${name} completion for fish
function ${complete}
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l found (command $words[1] ${COMPLETE} $words[2..] "$current" 2>/dev/null)
  if string match -q -- "${FILES}*" $found[1]
    __fish_complete_path "$current"
  else if set -q found[1]
    printf '%s\\n' $found
  end
end
complete -c ${name} -f -k -a '(${complete})'
`;

const SCRIPTS: Record<Shell, (name: string, complete: string) => string> = { bash, zsh, fish };

export const completionScript = (shell: Shell, name: string): string =>
  SCRIPTS[shell](name, `_${name.replaceAll("-", "_")}`);
