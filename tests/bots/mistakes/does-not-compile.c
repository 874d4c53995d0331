/* A typing error in C
 *
 * The compiler says where: a file, a line and a column.
 */
#include <stdio.h>

int main(void) {
    char line[64];
    while (fgets(line, sizeof line, stdin))
        puts(answer);
}
