/* Starts 200 processes, while others keep whoever watches it busy with questions. */
#include "hostile.h"
#include <netinet/in.h>

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    pid_t children[200];
    int failed = 0;
    for (int i = 0; i < 200; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            for (;;) {
                if (i >= 2)
                    pause();
                else
                    close(socket(AF_INET, SOCK_DGRAM, 0));
            }
        }
        failed |= children[i] < 0;
    }
    wait_ms(1000);
    for (int i = 0; i < 200; i++)
        if (children[i] > 0)
            kill(children[i], SIGKILL);
    return failed;
}
