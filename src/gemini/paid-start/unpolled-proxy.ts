/** Refuses a paid start whose polls could not get through: older Nodes send them past the proxy that the start needs. */

import { AppError } from "../../errors.ts";
import { canUseProxyFromEnvironment } from "../transport/google-client.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export async function refuseUnpolled(url: URL, environment: Environment): Promise<AppError | undefined> {
  if (!isProxied(url, environment) || isNodeToldOfProxies(environment) || (await canUseProxyFromEnvironment())) {
    return undefined;
  }
  return new AppError({
    code: "GEMINI_UNAVAILABLE",
    message:
      "A proxy is set, and this Node sends polls past it: the result could not be collected. Nothing was sent and nothing was charged. Set NODE_USE_ENV_PROXY=1 where the server is started, or use Node 24 or later.",
  });
}

const isNodeToldOfProxies = ({ NODE_USE_ENV_PROXY: told, NODE_OPTIONS: options = "" }: Environment): boolean =>
  told === "1" || [...process.execArgv, ...options.split(/\s+/)].includes("--use-env-proxy");

/** As Node's agents read the variables: small letters first. */
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
