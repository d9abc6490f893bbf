/** Entry point: the stdio server without arguments, otherwise a command. */

const NESTED_START = `[ERROR] gemini-search-mcp was started by a Gemini CLI that gemini-search-mcp itself had started. It does not run inside itself.\n`;

export async function main(argv: string[]): Promise<void> {
  if (argv[0] === "__task-ids") {
    // Shell completion waits for it at every Tab, so nothing else is loaded.
    const { printTaskIds } = await import("./cli/completion/print-task-ids.ts");
    return printTaskIds();
  }
  if (argv.length > 0) {
    const { runCommand } = await import("./cli/program.ts");
    await runCommand(argv);
    return;
  }
  const [{ createApp }, { runStdioServer }] = await Promise.all([import("./app.ts"), import("./mcp/stdio/stdio.ts")]);
  const app = createApp({ logFrom: "INFO" });
  if (app.config.depth > 0) {
    process.stderr.write(NESTED_START);
    process.exitCode = 1;
    return;
  }
  if (app.telemetry !== undefined) await app.telemetry;
  runStdioServer(app);
}
