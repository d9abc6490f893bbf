/** A plan as a list of steps with the text around it, and back to the text that is sent. */

interface PlanSteps {
  before: string;
  /** Plain text; a step may have further lines. */
  steps: string[];
  after: string;
}

const STEP = /^ ?(?:\d{1,2}[.)]|\(\d{1,2}\)|[-*•])(?:\s+(.*))?$/;

/** Undefined if the text is not one list: steps of another list would not be shown. */
export function planSteps(text: string): PlanSteps | undefined {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => STEP.test(line));
  if (first === -1) return undefined;
  const steps: string[] = [];
  let end = first;
  for (let at = first; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const started = STEP.exec(line);
    if (started !== null) steps.push(plain(started[1] ?? ""));
    else if (line.trim() === "") continue;
    else if (/^\s/.test(line)) steps.push(`${steps.pop() ?? ""}\n${plain(line.trim())}`);
    else break;
    end = at + 1;
  }
  if (lines.slice(end).some((line) => STEP.test(line))) return undefined;
  return { before: lines.slice(0, first).join("\n").trim(), steps, after: lines.slice(end).join("\n").trim() };
}

/** To be read, without the marks of headings and bold text. */
export const plainPlan = (text: string): string => plain(text.replaceAll(/^#{1,6} +/gm, ""));

const plain = (text: string): string => text.replaceAll(/\*\*([^*\n]+)\*\*/g, "$1");

export function planText({ before, steps, after }: PlanSteps): string {
  const list = steps.map((step, index) => `${index + 1}. ${step.replaceAll("\n", "\n   ")}`).join("\n");
  return [before, list, after].filter((part) => part !== "").join("\n\n");
}

/** As it is sent: a step that was added and not written is none. */
export function withoutEmptySteps(text: string): string {
  const plan = planSteps(text);
  if (plan === undefined || plan.steps.every((step) => step.trim() !== "")) return text;
  return planText({ ...plan, steps: plan.steps.filter((step) => step.trim() !== "") });
}
