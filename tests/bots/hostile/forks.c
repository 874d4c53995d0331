/* Starts 200 processes. */
#include "hostile.h"
#include <netinet/in.h>

/* How many of them keep asking for the network. */
#ifndef ASKING
#define ASKING 0
#endif

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    pid_t children[200];
    int failed = 0;
    for (int i = 0; i < 200; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            while (i < ASKING)
                close(socket(AF_INET, SOCK_DGRAM, 0));
            for (;;)
                pause();
        }
        failed |= children[i] < 0;
    }
    /* All of them must live for a while. */
    hold();
    for (int i = 0; i < 200; i++)
        if (children[i] > 0)
            kill(children[i], SIGKILL);
    return failed;
}
