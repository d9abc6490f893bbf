// Old syntax on purpose: it must run on the unsupported Node.js versions that it rejects.
import { rmSync } from "fs";
import { fileURLToPath } from "url";

if (process.versions.node.split(".")[0] !== "24") {
  process.stderr.write(
    "The build and the tests need the Node.js that this repository pins, but found " +
      process.versions.node +
      ". Run npm ci without --ignore-scripts, and start things through npm run.\n",
  );
  process.exit(1);
}

// Remove chunks of earlier builds, which would be published.
["../dist", "../dist-failpoints"].forEach(function (folder) {
  rmSync(fileURLToPath(new URL(folder, import.meta.url)), { recursive: true, force: true });
});
