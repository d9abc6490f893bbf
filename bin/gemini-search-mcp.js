#!/usr/bin/env node
// Checks the Node that runs it before anything newer than old syntax is loaded.
import { existsSync } from "fs";
import { fileURLToPath } from "url";

var version = process.versions.node.split(".").map(Number);

// engines in package.json: ^22.22.3 || ^24.15.0 || >=26.0.0
function isSupported(major, minor, patch) {
  if (major === 22) return minor > 22 || (minor === 22 && patch >= 3);
  if (major === 24) return minor >= 15;
  return major >= 26;
}

var pinned = fileURLToPath(new URL("../node_modules/node/bin/node", import.meta.url));

var built = fileURLToPath(new URL("../dist/main.js", import.meta.url));

if (!existsSync(built)) {
  process.stderr.write("[ERROR] Not built yet: run npm run build.\n");
  process.exitCode = 1;
} else if (isSupported(version[0], version[1], version[2])) {
  import("../dist/main.js")
    .then(function (program) {
      return program.main(process.argv.slice(2));
    })
    .catch(function (error) {
      process.stderr.write("[ERROR] " + (error && error.stack ? error.stack : error) + "\n");
      process.exitCode = 1;
    });
} else if (existsSync(pinned)) {
  // Loaded here only: on a right Node it would cost every start a millisecond.
  void import("child_process").then(function (childProcess) {
    var child = childProcess.spawn(pinned, process.argv.slice(1), { stdio: "inherit" });
    ["SIGTERM", "SIGINT", "SIGHUP"].forEach(function (name) {
      process.on(name, function () {
        child.kill(name);
      });
    });
    child.on("exit", function (code) {
      process.exit(code === null ? 1 : code);
    });
  });
} else {
  process.stderr.write(
    "[ERROR] gemini-search-mcp needs Node.js 24.15 or later (or 22.22.3 or later in the 22 line); this is " +
      process.versions.node +
      ". Install a current Node.js from your package manager or version manager and try again.\n",
  );
  process.exitCode = 1;
}
