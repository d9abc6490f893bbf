/** Parses the parts of the Dockerfile syntax that ours uses: stages and their instructions. */

export interface Instruction {
  name: string;
  /** The rest of the instruction, with continued lines joined. */
  rest: string;
}

export interface Stage {
  image: string;
  name: string | undefined;
  instructions: Instruction[];
}

export function readStages(text: string): Stage[] {
  const lines = text
    .split("\n")
    .filter((line) => !/^\s*#/.test(line))
    .join("\n")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const stages: Stage[] = [];
  for (const line of lines) {
    const [, name = "", rest = ""] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    if (name.toUpperCase() === "FROM") {
      const [image = "", , stage] = rest.split(/\s+/);
      stages.push({ image, name: stage, instructions: [] });
    } else stages.at(-1)?.instructions.push({ name: name.toUpperCase(), rest });
  }
  return stages;
}

export const allOf = ({ instructions }: Stage, name: string): string[] =>
  instructions.filter((instruction) => instruction.name === name).map(({ rest }) => rest);

/** The last of several instructions, which is the one in effect. */
export const lastOf = (stage: Stage, name: string): string | undefined => allOf(stage, name).at(-1);

/** The stage with the instructions of the stages that it is built from, first ones first. */
export function withInherited(stage: Stage, stages: readonly Stage[]): Stage {
  const base = stages.find(({ name }) => name !== undefined && name === stage.image);
  if (base === undefined) return stage;
  const { image, instructions } = withInherited(base, stages);
  return { image, name: stage.name, instructions: [...instructions, ...stage.instructions] };
}

/** Parses the form `["a", "b"]`; undefined for the shell form. */
export function argumentsOf(rest: string | undefined): string[] | undefined {
  try {
    const value: unknown = JSON.parse(rest ?? "");
    return Array.isArray(value) ? value.map(String) : undefined;
  } catch {
    return undefined;
  }
}

/** Parses `A=1 B="two words"`. */
export const pairsOf = (rest: string): [string, string][] =>
  [...rest.matchAll(/([\w.]+)=("[^"]*"|\S+)/g)].map(([, name = "", value = ""]) => [name, value]);
