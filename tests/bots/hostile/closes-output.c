/* Closes its output instead of answering, and lives on. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    close(1);
    for (;;)
        pause();
    return 0;
}
