/* Thinks all the time in a second process, and answers the first question at once. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    if (fork() == 0) {
        volatile unsigned long thoughts = 0;
        for (;;)
            thoughts++;
    }
    dprintf(1, "- A\n");
    char byte;
    while (read(0, &byte, 1) == 1) {}
    return 0;
}
