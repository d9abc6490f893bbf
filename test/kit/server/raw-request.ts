/** Sends a request with arbitrary headers, because fetch() does not allow setting Host, Origin or Sec-Fetch-*. */

import { request } from "node:http";
import type { RunningHttpServer } from "./http-server.ts";

export interface Asked {
  method?: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface Answered {
  status: number;
  body: string;
  headers: NodeJS.Dict<string | string[]>;
}

export function ask(
  server: Pick<RunningHttpServer, "url">,
  { method = "GET", path, headers, body }: Asked,
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const asked = request(`${server.url}${path}`, { method, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }));
    });
    asked.once("error", reject);
    asked.end(body);
  });
}
