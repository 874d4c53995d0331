/* Ignores SIGTERM and the end of its input, and lives on. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    signal(SIGTERM, SIG_IGN);
    close(1);
    for (int i = 0; i < 60; i++)
        wait_ms(1000);
    return 0;
}
