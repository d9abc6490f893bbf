/** The script of a chat client's page: the official app bridge, which connects the card in a frame with the test. */

import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

type Bridge = InstanceType<typeof AppBridge>;
type HostContext = Parameters<Bridge["setHostContext"]>[0];

declare global {
  interface Window {
    /** Provided by the test. */
    received: (name: string, params: unknown) => Promise<never>;
    chat: {
      open: (address: string, context: HostContext) => Promise<void>;
      bridge: () => Bridge;
    };
  }
}

const CAPABILITIES = {
  openLinks: {},
  downloadFile: {},
  serverTools: {},
  updateModelContext: { text: {} },
  message: { text: {} },
};

const frame = (): HTMLIFrameElement => {
  const found = document.querySelector("iframe");
  if (found === null) throw new Error("There is no frame.");
  return found;
};

let opened: Bridge | undefined;

/** Resizes the frame as clients do: to the height of the card in the chat, to the window in full screen. */
function showMode(mode: string): void {
  document.body.dataset["mode"] = mode;
}

async function open(address: string, hostContext: HostContext): Promise<void> {
  const bridge = new AppBridge(null, { name: "test-chat", version: "1.0.0" }, CAPABILITIES, { hostContext });
  opened = bridge;
  const initialized = new Promise<void>((resolve) => bridge.addEventListener("initialized", () => resolve()));
  bridge.oncalltool = (params) => window.received("tools/call", params);
  bridge.onopenlink = (params) => window.received("open-link", params);
  bridge.ondownloadfile = (params) => window.received("download-file", params);
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it answers a request of the card, and is no event
  bridge.onmessage = (params) => window.received("message", params);
  bridge.onupdatemodelcontext = (params) => window.received("update-model-context", params);
  bridge.onrequestdisplaymode = ({ mode }) => {
    showMode(mode);
    return Promise.resolve({ mode });
  };
  bridge.addEventListener("sizechange", ({ height }) => {
    if (height !== undefined) frame().style.setProperty("--height", `${height}px`);
  });
  showMode(hostContext.displayMode ?? "inline");
  const view = frame().contentWindow;
  if (view === null) throw new Error("The frame has no window.");
  await bridge.connect(new PostMessageTransport(view, view));
  frame().src = address;
  await initialized;
}

window.chat = {
  open,
  bridge: () => {
    if (opened === undefined) throw new Error("No card is open.");
    return opened;
  },
};
