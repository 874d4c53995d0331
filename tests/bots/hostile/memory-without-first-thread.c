/* Fills 400 MiB of its own memory when its first thread has ended. */
#include "hostile.h"
#include <pthread.h>

static void *fills(void *nothing)
{
    (void)nothing;
    wait_ms(100);
    for (int i = 0; i < 100; i++) {
        char *some = malloc(4 << 20);
        if (some == NULL) {
            dprintf(2, "attack: blocked: %s\n", strerror(errno));
            exit(1);
        }
        fill(some, 4 << 20);
    }
    hold();
    dprintf(2, "attack: succeeded\n");
    exit(0);
}

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    pthread_t thread;
    if (pthread_create(&thread, NULL, fills, NULL) != 0)
        return -1;
    pthread_exit(NULL);
}
