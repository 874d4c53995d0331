/* A debug print in JavaScript
 *
 * `console.log` writes to standard output, as answers do.
 */
require("readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => {
    console.log("board:", line);
    console.log("- A");
  });
