/* A crash in JavaScript
 *
 * A word is taken from the line that is not there.
 */
require("readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => console.log("-", line.split(" ")[2].trim()));
