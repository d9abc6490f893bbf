/** Extends the request handlers of a server: each extension can answer itself or call the handler. */

import type {
  HandlerResultTypeMap,
  RequestMethod,
  RequestTypeMap,
  Server,
  ServerContext,
} from "@modelcontextprotocol/server";

/** `next` calls the extended handler. */
export type Extension<Method extends RequestMethod> = (
  request: RequestTypeMap[Method],
  next: () => Promise<HandlerResultTypeMap[Method]>,
  context: ServerContext,
) => HandlerResultTypeMap[Method] | Promise<HandlerResultTypeMap[Method]>;

export type Extensions = { [Method in RequestMethod]?: Extension<Method> };

/** Puts each extension in front of the handler that is registered for its method from now on. */
export function extendHandlers(server: Server, extensions: Extensions): void {
  const register = server.setRequestHandler;
  Object.assign(server, {
    setRequestHandler: (method: RequestMethod, ...rest: unknown[]): void => {
      const extension = extensions[method];
      const [handler] = rest;
      if (extension === undefined || typeof handler !== "function") {
        Reflect.apply(register, server, [method, ...rest]);
        return;
      }
      const extended = (request: unknown, context: ServerContext): unknown => {
        const next = async (): Promise<unknown> => Reflect.apply(handler, undefined, [request, context]);
        return Reflect.apply(extension, undefined, [request, next, context]);
      };
      Reflect.apply(register, server, [method, extended]);
    },
  });
}
