/** Refuses a paid start that could not be polled: older Node versions send polls past the proxy that the start uses. */

import { AppError } from "../../errors.ts";
import { canUseProxyFromEnvironment } from "../transport/google-client.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export async function refuseUnpollableProxy(url: URL, environment: Environment): Promise<AppError | undefined> {
  if (!isProxied(url, environment) || usesProxyVariables(environment) || (await canUseProxyFromEnvironment())) {
    return undefined;
  }
  return new AppError({
    code: "GEMINI_UNAVAILABLE",
    message:
      "A proxy is set, but this version of Node.js would send polls past it, so the result could not be collected. Nothing was sent and nothing was charged.",
    suggestion: "Set NODE_USE_ENV_PROXY=1 in the server's environment, or use Node.js 24 or later.",
  });
}

/** Whether this Node process was started with proxy support for fetch. */
const usesProxyVariables = ({ NODE_USE_ENV_PROXY: enabled, NODE_OPTIONS: options = "" }: Environment): boolean =>
  enabled === "1" || [...process.execArgv, ...options.split(/\s+/)].includes("--use-env-proxy");

/** Reads the variables as Node's agents do: the lower-case name wins. */
function isProxied({ protocol, hostname, port }: URL, environment: Environment): boolean {
  const valueOf = (name: string): string => environment[name] ?? environment[name.toUpperCase()] ?? "";
  if (valueOf(protocol === "https:" ? "https_proxy" : "http_proxy") === "") return false;
  const host = hostname.replaceAll(/[[\]]/g, "");
  const withPort = `${host}:${port === "" ? defaultPort(protocol) : port}`;
  const exceptions = valueOf("no_proxy")
    .toLowerCase()
    .split(/[\s,]+/);
  return !exceptions.some(
    (exception) => exception === "*" || [host, withPort].includes(exception) || isDomainOf(host, exception),
  );
}

const defaultPort = (protocol: string): string => (protocol === "https:" ? "443" : "80");

const isDomainOf = (host: string, exception: string): boolean =>
  /^\*?\../.test(exception) && host.endsWith(exception.replace("*", ""));
