/**
 * Checks Dockerfile and compose.yaml for mistakes and against the program they start: `node
 * scripts/check-containers.ts`.
 */

import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import configurations from "../rolldown.config.ts";
import { createProgram } from "../src/cli/program.ts";
import { SETTINGS } from "../src/config/settings.ts";
import { type Composition, programsOf, readComposition, ROOT, type Service } from "./compose-file.ts";
import { allOf, argumentsOf, lastOf, pairsOf, readStages, type Stage, withInherited } from "./docker-file.ts";

export interface Containers {
  dockerfile: string;
  dockerignore: string;
  composition: string;
}

export const readContainers = (): Containers => ({
  dockerfile: readFileSync(resolve(ROOT, "Dockerfile"), "utf8"),
  dockerignore: readFileSync(resolve(ROOT, ".dockerignore"), "utf8"),
  composition: readFileSync(resolve(ROOT, "compose.yaml"), "utf8"),
});

const packageSchema = z.object({
  version: z.string(),
  devDependencies: z.record(z.string(), z.string()),
  peerDependencies: z.record(z.string(), z.string()),
});
const OWN = packageSchema.parse(JSON.parse(readFileSync(resolve(ROOT, "package.json"), "utf8")));

/** Returns every violation as a sentence. */
export function checkContainers({ dockerfile, dockerignore, composition }: Containers): string[] {
  const stages = readStages(dockerfile);
  const last = stages.at(-1);
  if (last === undefined) return ["The Dockerfile has no stage."];
  const final = withInherited(last, stages);
  const composed = readComposition(composition);
  return [
    ...stages.filter(({ image }) => !stages.some(({ name }) => name === image)).flatMap(({ image }) => pinned(image)),
    ...copies(stages, dockerignore),
    ...buildInputs(dockerignore),
    ...packages(stages),
    ...finalStage(final),
    ...Object.entries(composed.services).flatMap(([name, service]) => hardened(name, service, composed)),
    ...programsOf(composed).flatMap(([name, service]) => program(name, service)),
    ...secrets(`${dockerfile}\n${composition}`),
  ];
}

const unless = (holds: boolean, sentence: string): string[] => (holds ? [] : [sentence]);

const pinned = (image: string): string[] =>
  unless(/^[\w./-]+:\d[\w.-]*$/.test(image), `${image} is not an image with a version.`);

const BUILT = ["dist", "node_modules"];

const allowedBy = (dockerignore: string): string[] =>
  dockerignore.split("\n").flatMap((line) => (line.startsWith("!") ? [line.slice(1)] : []));

/** The image is built with `npm run build`, which needs the entry of every program. */
function buildInputs(dockerignore: string): string[] {
  const allowed = allowedBy(dockerignore);
  return configurations
    .flatMap(({ input }) => (typeof input === "object" ? Object.values(input) : []))
    .flatMap((file) =>
      unless(
        allowed.some((path) => file.startsWith(`${path}/`)),
        `${file} is built, but .dockerignore keeps it out.`,
      ),
    );
}

function copies(stages: Stage[], dockerignore: string): string[] {
  const allowed = allowedBy(dockerignore);
  return stages
    .flatMap((stage) => allOf(stage, "COPY"))
    .flatMap((rest) => {
      const [from, ...paths] = rest.startsWith("--from=") ? rest.split(/\s+/) : ["", ...rest.split(/\s+/)];
      return paths.slice(0, -1).flatMap((path) => {
        const file = path.replace(/^\/(?:build|optional)\//, "");
        const comes = BUILT.includes(file) || existsSync(resolve(ROOT, file));
        const reaches = file === "." || BUILT.includes(file) || allowed.includes(file);
        const stageExists = from === "" || stages.some(({ name }) => `--from=${name}` === from);
        return unless(
          comes && reaches && stageExists,
          `COPY ${path}: it does not exist, or .dockerignore keeps it out.`,
        );
      });
    });
}

/** The image contains all optional dependencies, in the tested versions. */
function packages(stages: Stage[]): string[] {
  const installed = new Map(
    stages
      .flatMap((stage) => allOf(stage, "RUN"))
      .flatMap((rest) => [...rest.matchAll(/(?<=\s)(@?[\w./-]+)@(\d[\w.-]*)/g)])
      .map(([, name = "", version = ""]) => [name, version]),
  );
  return [
    ...[...installed].flatMap(([name, version]) =>
      unless(OWN.devDependencies[name] === version, `${name}@${version} is not the version that is tested.`),
    ),
    ...Object.keys(OWN.peerDependencies).flatMap((name) => unless(installed.has(name), `${name} is not in the image.`)),
  ];
}

/** Variables that are not settings of this program. */
const OTHER_VARIABLES = ["NODE_ENV", "GEMINI_SEARCH_CONFIG_DIR"];
const isVariable = (name: string): boolean => OTHER_VARIABLES.includes(name) || Object.hasOwn(SETTINGS, name);

function finalStage(stage: Stage): string[] {
  const [user = "root"] = (lastOf(stage, "USER") ?? "root").split(":");
  const health = argumentsOf(/\bCMD\s+(\[.*)$/.exec(lastOf(stage, "HEALTHCHECK") ?? "")?.[1]);
  const [node, entry = "", ...more] = argumentsOf(lastOf(stage, "ENTRYPOINT")) ?? [];
  const variables = allOf(stage, "ENV").flatMap(pairsOf);
  return [
    ...unless(!["root", "0"].includes(user), "The image runs as root."),
    ...unless(health?.[0] === "node" && health.at(-1)?.includes("/health") === true, "No HEALTHCHECK asks /health."),
    ...unless(lastOf(stage, "STOPSIGNAL") === "SIGTERM", "The image is not stopped by SIGTERM."),
    ...unless(
      node === "node" && more.length === 0 && existsSync(resolve(ROOT, entry.replace(/^\/app\//, ""))),
      "ENTRYPOINT is not the program, as a list.",
    ),
    ...command("The image", argumentsOf(lastOf(stage, "CMD")) ?? []),
    ...variables.flatMap(([name]) => unless(isVariable(name), `${name} is not a setting.`)),
  ];
}

const COMMANDS = createProgram().commands.map((each) => each.name());

function command(subject: string, [name = "", ...flags]: string[]): string[] {
  const known = createProgram().commands.find((candidate) => candidate.name() === name);
  const options = new Set(known?.options.map(({ long }) => long));
  return [
    ...unless(COMMANDS.includes(name), `${subject} starts "${name}", which is not a command.`),
    ...flags
      .filter((flag) => flag.startsWith("--"))
      .flatMap((flag) => unless(options.has(flag.split("=")[0]), `${subject}: ${name} has no ${flag}.`)),
  ];
}

function hardened(name: string, service: Service, { services, volumes }: Composition): string[] {
  const { healthcheck, build } = service;
  const named = service.volumes.map((volume) => volume.split(":")[0] ?? "").filter((volume) => !/^[./]/.test(volume));
  const waitsFor = Object.entries(service.depends_on);
  return [
    ...pinned(service.image),
    ...unless(service.restart === "unless-stopped", `${name} is not started again.`),
    ...unless(service.read_only === true, `${name} can write to its root.`),
    ...unless(service.cap_drop.includes("ALL"), `${name} keeps capabilities.`),
    ...unless(service.security_opt.includes("no-new-privileges:true"), `${name} can gain privileges.`),
    ...unless(service.stop_grace_period !== undefined, `${name} has no time to stop.`),
    ...unless(healthcheck !== undefined || build !== undefined, `${name} has no healthcheck.`),
    ...named.flatMap((volume) => unless(Object.hasOwn(volumes, volume), `${name}: ${volume} is no volume.`)),
    ...waitsFor.flatMap(([other, { condition }]) =>
      unless(
        condition === "service_healthy" && services[other]?.healthcheck !== undefined,
        `${name} does not wait until ${other} is healthy.`,
      ),
    ),
    ...service.ports.flatMap((port) => unless(port.startsWith("127.0.0.1:"), `${name} is open to the network.`)),
  ];
}

function program(name: string, service: Service): string[] {
  return [
    ...unless(service.image === `gemini-search-mcp:${OWN.version}`, `${name} is not version ${OWN.version}.`),
    ...unless(service.init === true, `${name} leaves zombies: init is not true.`),
    ...unless(Object.hasOwn(service.depends_on, "database"), `${name} does not wait for the database.`),
    ...command(name, service.command ?? []),
    ...Object.keys(service.environment).flatMap((variable) =>
      unless(isVariable(variable), `${name}: ${variable} is not a setting.`),
    ),
  ];
}

/** Secrets must come from files that are not in the repository. */
function secrets(text: string): string[] {
  const named = text.matchAll(
    /^\s*-?\s*(?:ENV\s+)?["']?(\w*(?:KEY|TOKEN|PASSWORD|SECRET|DATABASE_URL)\w*)["']?\s*[:=]/gm,
  );
  return [
    ...[...named].map(([, name]) => `${name} does not belong here.`),
    ...unless(!/:\/\/[^/\s:]+:[^/\s@]+@/.test(text), "An address has a password in it."),
  ];
}

if (import.meta.main) {
  const broken = checkContainers(readContainers());
  for (const sentence of broken) process.stderr.write(`${sentence}\n`);
  process.exitCode = broken.length === 0 ? 0 : 1;
}
