/* Is no attack: has more than half of the memory that it may have, and a child that shares it for a while (vfork), as one
   does that is about to start another program. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    size_t bytes = 100 << 20;
    char *memory = malloc(bytes);
    if (memory == NULL)
        return -1;
    fill(memory, bytes);
    pid_t child = vfork();
    if (child == 0) {
        wait_ms(300);
        _exit(0);
    }
    return waitpid(child, NULL, 0) == child ? 0 : -1;
}
