/** The user's webhooks: a form that adds one and shows its secret once, and the list with a test and a way to remove each. */

import { useState } from "preact/hooks";
import { type EventName, EVENTS, SHAPES } from "../../notifications/event-names.ts";
import type { WebhookAdded, WebhookList, WebhookTested } from "../wire.ts";
import { fetchJson, postJson } from "./app/request.ts";
import { CopyButton } from "./ui/buttons.tsx";
import { Check, ConfirmDialog, useSending } from "./ui/forms.tsx";
import { announce, Problem, useLoad } from "./ui/parts.tsx";

type Listed = WebhookList["webhooks"][number];

const SHAPE_NAMES: Record<string, string> = {
  standard: "Signed JSON",
  slack: "Slack",
  teams: "Microsoft Teams",
  ntfy: "ntfy",
  mcp: "Subscription of an MCP client",
};

const EVENT_NAMES: Record<EventName, string> = {
  "research.finished": "Research has finished",
  "research.failed": "Research has failed",
  "research.needs_approval": "A plan waits for approval",
  "research.changed": "What changed since the last report",
  "budget.threshold": "A budget has reached a threshold",
};

export function NotificationsView(_props: object) {
  const { value, error, update } = useLoad("webhooks", (signal) => fetchJson<WebhookList>("/api/webhooks", { signal }));
  const [added, setAdded] = useState<WebhookAdded>();
  return (
    <div class="stack">
      <h1 tabIndex={-1}>Notifications</h1>
      <p>
        A webhook is an address that is sent a short message when your research ends or needs you: the question, the
        state and the cost, never the report.
      </p>
      <Problem error={error} />
      <AddForm
        added={(webhook) => {
          setAdded(webhook);
          update(({ webhooks }) => ({ webhooks: [...webhooks, webhook] }));
        }}
      />
      {added?.secret === undefined ? null : <Secret secret={added.secret} />}
      {value?.webhooks.map((webhook) => (
        <WebhookCard
          key={webhook.webhook_id}
          webhook={webhook}
          replace={(next) =>
            update(({ webhooks }) => ({
              webhooks: webhooks.flatMap((one) => (one.webhook_id === webhook.webhook_id ? next : [one])),
            }))
          }
        />
      ))}
    </div>
  );
}

function AddForm({ added }: { added: (webhook: WebhookAdded) => void }) {
  const [url, setUrl] = useState("");
  const [shape, setShape] = useState<string>("standard");
  const [events, setEvents] = useState<readonly string[]>(EVENTS);
  const { pending, error, send } = useSending<"add">();
  const isReady = url.trim() !== "" && events.length > 0 && pending === undefined;
  const add = async (): Promise<void> => {
    const webhook = await postJson<WebhookAdded>("/api/webhooks", { url: url.trim(), shape, events });
    announce("The webhook is added.");
    setUrl("");
    added(webhook);
  };
  return (
    <form
      class="card stack tight"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) void send("add", add);
      }}
    >
      <h2>Add a webhook</h2>
      <div class="row">
        <label for="webhook-url">Address</label>
        <input
          id="webhook-url"
          class="grow"
          type="url"
          autocomplete="off"
          spellcheck={false}
          placeholder="https://"
          maxLength={2_000}
          value={url}
          onInput={({ currentTarget }) => setUrl(currentTarget.value)}
        />
        <select aria-label="Body" value={shape} onChange={({ currentTarget }) => setShape(currentTarget.value)}>
          {SHAPES.map((name) => (
            <option key={name} value={name}>
              {SHAPE_NAMES[name]}
            </option>
          ))}
        </select>
      </div>
      <fieldset class="stack tight small">
        <legend>Send it</legend>
        {EVENTS.map((name) => (
          <Check
            key={name}
            checked={events.includes(name)}
            onChange={(checked) => setEvents(EVENTS.filter((one) => (one === name ? checked : events.includes(one))))}
          >
            {EVENT_NAMES[name]}
          </Check>
        ))}
      </fieldset>
      <Problem error={error} />
      <div class="row">
        <button type="submit" class="button primary" disabled={!isReady}>
          {pending === undefined ? "Add" : "Adding…"}
        </button>
      </div>
    </form>
  );
}

const Secret = ({ secret }: { secret: string }) => (
  <section class="notice warn stack tight" aria-label="The secret of the new webhook">
    <p>This secret signs the messages. Copy it now: it cannot be shown again.</p>
    <div class="row">
      <code class="grow">{secret}</code>
      <CopyButton subject="the secret" text={async () => secret} />
    </div>
  </section>
);

interface CardProps {
  webhook: Listed;
  /** With none, it is removed. */
  replace: (next: Listed[]) => void;
}

function WebhookCard({ webhook, replace }: CardProps) {
  const { webhook_id: id, address, shape, events, disabled } = webhook;
  const { pending, error, send, forget } = useSending<"test" | "remove">();
  const [result, setResult] = useState<WebhookTested>();
  const [isRemoving, setRemoving] = useState(false);
  const test = async (): Promise<void> => {
    const tested = await postJson<WebhookTested>(`/api/webhooks/${id}/test`, {});
    setResult(tested);
    announce(tested.message);
    if (tested.delivered) replace([{ ...webhook, disabled: undefined }]);
  };
  const remove = async (): Promise<void> => {
    await fetchJson(`/api/webhooks/${id}`, { method: "DELETE" });
    announce("The webhook is removed.");
    replace([]);
  };
  const named = EVENTS.filter((name) => events.includes(name)).map((name) => EVENT_NAMES[name].toLowerCase());
  return (
    <section class="card stack tight" aria-label={`Webhook ${address}`}>
      <p>
        <strong>{address}</strong> <span class="quiet small">{SHAPE_NAMES[shape]}</span>
      </p>
      <p class="quiet small">{events.length === EVENTS.length ? "every event" : named.join(", ")}</p>
      {disabled === undefined ? null : (
        <p class="notice bad">It is disabled. {disabled} A successful test enables it again.</p>
      )}
      {result === undefined ? null : (
        <p class={result.delivered ? "notice" : "notice bad"}>
          {result.delivered ? "The test was delivered." : "The test was not delivered."} {result.message}
        </p>
      )}
      {isRemoving ? null : <Problem error={error} />}
      <div class="row">
        {shape === "mcp" ? null : (
          <button
            type="button"
            class="button small"
            disabled={pending !== undefined}
            onClick={() => void send("test", test)}
          >
            {pending === "test" ? "Testing…" : "Test"}
          </button>
        )}
        <button type="button" class="button small" disabled={pending !== undefined} onClick={() => setRemoving(true)}>
          Remove
        </button>
      </div>
      {isRemoving ? (
        <ConfirmDialog
          title="Remove the webhook?"
          explanation={`${address} is sent nothing more. Its secret is deleted.`}
          isPending={pending === "remove"}
          error={error}
          close={() => {
            forget();
            setRemoving(false);
          }}
          submit={{ name: "Remove", pendingName: "Removing…", danger: true }}
          no="Keep it"
          onSubmit={() => void send("remove", remove)}
        >
          {null}
        </ConfirmDialog>
      ) : null}
    </section>
  );
}
