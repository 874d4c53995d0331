/* Starts 1,000 threads. */
#include "hostile.h"
#include <limits.h>
#include <pthread.h>

static void *waits(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN);
    for (int i = 0; i < 1000; i++) {
        int error = pthread_create(&thread, &small, waits, NULL);
        if (error) {
            errno = error;
            return -1;
        }
    }
    /* All of them must live for a while. */
    hold();
    return 0;
}
