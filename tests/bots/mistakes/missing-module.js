/* A missing module
 *
 * It is installed where the program was written, not here.
 */
const { best } = require("quarto-engine");

require("readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => console.log(best(line)));
