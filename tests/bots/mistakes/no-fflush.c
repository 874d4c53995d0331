/* No flush in C
 *
 * `printf` to a program is kept back until some kilobytes have come together.
 */
#include <stdio.h>

int main(void) {
    char line[64];
    while (fgets(line, sizeof line, stdin)) printf("- A\n");
}
