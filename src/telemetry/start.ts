/** Begins to listen, if the settings ask for it. Whatever goes wrong with it is a line in the log and nothing else. */

import type { Log } from "../platform/log.ts";
import type { RunGauges } from "./recorder.ts";
import type { TelemetrySettings } from "./settings.ts";
import { listenWith } from "./telemetry.ts";

/** As `peerDependencies` in package.json has them; a test compares. */
export const PACKAGES = [
  "@opentelemetry/api@^1.10.0",
  "@opentelemetry/exporter-metrics-otlp-http@^0.301.0",
  "@opentelemetry/exporter-prometheus@^0.301.0",
  "@opentelemetry/exporter-trace-otlp-http@^0.301.0",
  "@opentelemetry/resources@^3.1.1",
  "@opentelemetry/sdk-metrics@^3.1.1",
  "@opentelemetry/sdk-trace@^3.1.1",
];

const MISSING = `OpenTelemetry is set up, but its packages are not installed; nothing is traced or measured. Install them beside gemini-search-mcp: npm install ${PACKAGES.join(" ")} (with --global where gemini-search-mcp is global).`;
const BROKEN = "OpenTelemetry could not be started; nothing is traced or measured.";
const NOT_SENT =
  "Traces or metrics could not be sent to the OpenTelemetry collector. They are dropped; nothing else is affected.";

const SAY_AGAIN_MS = 60_000;
/** Less than a process has left when it is told to go. */
const FLUSH_MS = 500;

export interface TelemetryOptions {
  name: string;
  version: string;
  settings: TelemetrySettings;
  log: Log;
  runGauges: () => Promise<RunGauges | undefined>;
}

export interface Telemetry {
  /** In Prometheus' text format; undefined unless that was asked for. */
  metricsText: (() => Promise<string>) | undefined;
  /** Sends what is left, for as long as there is time. */
  close(): Promise<void>;
}

export async function startTelemetry({ log, ...options }: TelemetryOptions): Promise<Telemetry | undefined> {
  let saidAt = -Infinity;
  const onFault = (): void => {
    const now = performance.now();
    if (now - saidAt < SAY_AGAIN_MS) return;
    saidAt = now;
    log.warn(NOT_SENT);
  };
  try {
    const { startSdk } = await import("./sdk.ts");
    const { recorder, metricsText, close } = startSdk({ ...options, onFault });
    listenWith(recorder);
    return { metricsText, close: () => atMost(FLUSH_MS, close()) };
  } catch (error) {
    log.warn(isMissing(error) ? MISSING : BROKEN);
    return undefined;
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";

async function atMost(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, limit]);
  clearTimeout(timer);
}
