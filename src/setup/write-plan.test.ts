import { mkdtempSync, type PathLike, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { AppError } from "../errors.ts";
import { CLIENTS } from "./clients.ts";
import { planChange, type Plan } from "./plan.ts";
import { writePlan, type WriteRequest, type WriteResult } from "./write-plan.ts";

const OTHER = '{"mcpServers": {"gemini-search": {"command": "another"}}}';
const taken = new AppError({ code: "INVALID_INPUT", message: "taken" });

interface Scene {
  folder: string;
  file: string;
  plan: () => Promise<Plan>;
  write: (first: Plan, how?: Partial<WriteRequest>) => Promise<WriteResult>;
}

function open(): Scene {
  const folder = mkdtempSync(join(tmpdir(), "gemini-search-write-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "settings.json");
  writeFileSync(file, "{}");
  const client = CLIENTS.find(({ name }) => name === "gemini-cli");
  if (client === undefined) throw new Error("no client");
  const entry = client.stdio({ command: "gemini-search-mcp", args: [] });
  const plan = () => planChange({ client, file, newMode: 0o600, name: "gemini-search", entry });
  const objection = ({ state }: Plan) => (state === "name taken" ? taken : undefined);
  return {
    folder,
    file,
    plan,
    write: (first, how = {}) => writePlan({ first, planAgain: plan, mayRetry: true, objection, ...how }),
  };
}

/** A client that saves its settings each time after us, the given number of times. */
function overwriting(
  file: string,
  times: number,
  text = '{"mine": 1}',
): (from: PathLike, to: PathLike) => Promise<void> {
  let left = times;
  return async (from, to) => {
    renameSync(from, to);
    if (left-- > 0) writeFileSync(file, text);
  };
}

test("a change that another program made meanwhile is not reported as ours", async () => {
  const { folder, file, plan, write } = open();
  const first = await plan();
  writeFileSync(file, first.text);
  expect(await write(first)).toMatchObject({ end: "meanwhile", backup: undefined });
  expect(readdirSync(folder)).toEqual(["settings.json"]);
});

test("an entry that another program replaced meanwhile is left alone, which is a failure", async () => {
  const { file, plan, write } = open();
  const first = await plan();
  writeFileSync(file, OTHER);
  expect(await write(first)).toMatchObject({ end: "failed", error: taken });
  expect(readFileSync(file, "utf8")).toBe(OTHER);
});

test("if a client saves right after us, the entry is written again, with one backup of the original", async () => {
  const { folder, file, plan, write } = open();
  const written = await write(await plan(), { renameFile: overwriting(file, 3) });
  expect(written).toMatchObject({ end: "written", backup: expect.stringContaining(".backup-") });
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ mine: 1, mcpServers: { "gemini-search": {} } });
  expect(readFileSync(written.backup ?? "", "utf8")).toBe("{}");
  expect(readdirSync(folder)).toHaveLength(2);
});

test("a client that keeps our entry while it saves is no failure, even if the diff was confirmed", async () => {
  const { file, plan, write } = open();
  const first = await plan();
  const theirs = JSON.stringify({ mine: 1, ...JSON.parse(first.text) });
  const written = await write(first, { mayRetry: false, renameFile: overwriting(file, 1, theirs) });
  expect(written).toMatchObject({ end: "written", backup: expect.stringContaining(".backup-") });
});

test("a client that never stops saving is a failure, and the backup is named", async () => {
  const { folder, file, plan, write } = open();
  const backup = expect.stringContaining(".backup-");
  for (const mayRetry of [false, true]) {
    const ended = await write(await plan(), { mayRetry, renameFile: overwriting(file, 99) });
    expect(ended).toMatchObject({ end: "failed", backup, error: { retryable: true } });
  }
  expect(readdirSync(folder)).toHaveLength(3);
});
