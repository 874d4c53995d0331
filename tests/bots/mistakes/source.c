/* Not compiled
 *
 * A source is no program: the compiler makes one of it.
 */
#include <stdio.h>

int main(void) {
    puts("- A");
}
