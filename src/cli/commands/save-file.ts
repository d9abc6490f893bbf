/** Where `save` writes: a file, which is replaced only with the user's consent, or a directory. */

import { statSync } from "node:fs";
import { AppError } from "../../errors.ts";
import { outputDirectory } from "../../reports/files/save-markdown.ts";
import { askTerminal, type Confirmation, saysYes } from "../confirm.ts";

interface Target {
  output?: string;
  outputDir?: string;
  filenamePrefix?: string;
}

/** The target as fields of `save_report`. */
export function targetOf({ output, outputDir, filenamePrefix }: Target): Record<string, string> {
  const isDirectory = output !== undefined && (/[\\/]$/.test(output) || found(output)?.isDirectory() === true);
  const directory = isDirectory ? output : outputDir;
  return {
    ...(output === undefined || isDirectory ? {} : { file: output }),
    ...(directory === undefined ? {} : { output_dir: directory }),
    ...(filenamePrefix === undefined ? {} : { filename_prefix: filenamePrefix }),
  };
}

const found = (given: string) => statSync(outputDirectory(given), { throwIfNoEntry: false });

/** A pipe or a script cannot be asked: there the operation refuses. */
export const confirmReplacing: Confirmation = async (_deps, { input, call, canAsk }) => {
  const { file, replace } = input;
  if (typeof file !== "string" || replace === true || !canAsk || found(file) === undefined) return undefined;
  const answer = await askTerminal(`${file} exists. Replace it? [y/N] `, call.signal);
  if (!saysYes(answer)) throw new AppError({ code: "DECLINED", message: "Nothing was saved." });
  input["replace"] = true;
  return undefined;
};
