/* `readFileSync(0)` in JavaScript
 *
 * `readFileSync(0)` waits for the end of the input.
 */
for (const line of require("fs").readFileSync(0, "utf8").trim().split("\n"))
  console.log("- A");
