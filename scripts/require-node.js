// Old syntax on purpose: it has to run on the Node it complains about.
if (process.versions.node.split(".")[0] !== "24") {
  process.stderr.write(
    "The build and the tests need the Node.js that this repository pins, but found " +
      process.versions.node +
      ". Run npm ci without --ignore-scripts, and start things through npm run.\n",
  );
  process.exit(1);
}
