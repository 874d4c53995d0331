/* A null pointer in C
 *
 * `strchr` finds no `X` and returns NULL, which is read all the same.
 */
#include <stdio.h>
#include <string.h>

int main(void) {
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        printf("- %c\n", *strchr(line, 'X'));
        fflush(stdout);
    }
}
