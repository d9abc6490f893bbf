/**
 * An isolated environment for one test: a simulated Gemini, a config directory, and servers and commands that use only
 * these.
 */

import { rmSync } from "node:fs";
import type { ScenarioInput } from "../../../simulator/scenario.ts";
import { type Simulator, startSimulator } from "../../../simulator/server.ts";
import { type CommandOptions, type CommandResult, type RunningCommand, startCommand } from "./command.ts";
import { databaseEnvironment } from "../store/databases.ts";
import {
  isolatedEnvironment,
  type RunningServer,
  type ServerOptions,
  startServer,
  temporaryDirectory,
  TEST_KEY,
} from "./server.ts";

export interface Scene {
  gemini: Simulator;
  configDir: string;
  /** Directs a process to the simulator, through the API backend. */
  env: Record<string, string>;
  server(options?: Omit<ServerOptions, "configDir">): Promise<RunningServer>;
  command(args: string[], options?: Partial<CommandOptions>): Promise<CommandResult>;
  startCommand(args: string[], options?: Partial<CommandOptions>): RunningCommand;
}

/** A test, or another owner that runs cleanups. */
export interface Ending {
  onTestFinished(close: () => Promise<void> | void): void;
}

/** Everything that it starts ends with the test. */
export async function openScene({ onTestFinished }: Ending, scenario: ScenarioInput | string = "good"): Promise<Scene> {
  const gemini = await startSimulator({ scenario });
  const configDir = temporaryDirectory();
  onTestFinished(async () => {
    await gemini.close();
    rmSync(configDir, { recursive: true, force: true });
  });
  const env = {
    ...isolatedEnvironment(configDir),
    ...(await databaseEnvironment(configDir)),
    SEARCH_BACKEND: "api",
    GOOGLE_GEMINI_BASE_URL: gemini.url,
    GEMINI_API_KEY: TEST_KEY,
  };
  const command: Scene["startCommand"] = (args, options = {}) => {
    const started = startCommand(args, { ...options, env: { ...env, ...options.env } });
    onTestFinished(() => void started.child.kill("SIGKILL"));
    return started;
  };
  return {
    gemini,
    configDir,
    env,
    server: async (options = {}) => {
      const { era = "legacy" } = options;
      const server = await startServer({ ...options, era, env: { ...env, ...options.env }, configDir });
      onTestFinished(() => server.close());
      return server;
    },
    command: (args, options) => command(args, options).ended,
    startCommand: command,
  };
}
