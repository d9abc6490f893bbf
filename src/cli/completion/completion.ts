/** `completion`: prints the completion script of a shell. */

import { Argument, type Command } from "commander";
import { completionScript, SHELLS, type Shell } from "./scripts.ts";
import { completionSpec } from "./spec.ts";
import { print } from "../output.ts";

const INSTALL = `
Install it once, then open a new shell:
  bash  gemini-search-mcp completion bash > ~/.local/share/bash-completion/completions/gemini-search-mcp
        or in ~/.bashrc: eval "$(gemini-search-mcp completion bash)"
  zsh   in ~/.zshrc, after compinit: eval "$(gemini-search-mcp completion zsh)"
  fish  gemini-search-mcp completion fish > ~/.config/fish/completions/gemini-search-mcp.fish`;

export function addCompletion(program: Command): void {
  program
    .command("completion")
    .addArgument(new Argument("<shell>", "which shell").choices(SHELLS))
    .addHelpText("after", INSTALL)
    .action(async (shell: Shell) => {
      await print(completionScript(shell, { name: program.name(), spec: completionSpec(program) }));
    });
}
