// The entry of the desktop bundle. Its host imports it into a process of the host's own, whose Node.js need not report a
// version that package.json lists: so the program is tried instead of refused, and the process is never ended from here.
import("../dist/main.js")
  .then(function (program) {
    return program.serveAsGuest();
  })
  .catch(function (error) {
    process.stderr.write("[ERROR] " + (error && error.stack ? error.stack : error) + "\n");
    process.exitCode = 1;
  });
