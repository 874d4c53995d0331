/* Signals the process that is named. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    return kill(atoi(argv[1]), SIGCONT);
}
