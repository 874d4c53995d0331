/* Thinks all the time in other processes, which have themselves continued in every way when they are stopped;
   answers the first question at once. */
#include "hostile.h"
#include <pthread.h>

static void *continues(void *nothing)
{
    for (;;)
        kill(0, SIGCONT);
    return nothing;
}

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    for (int i = 0; i < 4; i++) {
        if (fork() != 0)
            continue;
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT};
        struct itimerspec often = {{0, 1000000}, {0, 1000000}};
        timer_t timer;
        pthread_t thread;
        if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
            timer_settime(timer, 0, &often, NULL);
        pthread_create(&thread, NULL, continues, NULL);
        volatile unsigned long thoughts = 0;
        for (;;)
            thoughts++;
    }
    wait_ms(50);
    dprintf(1, "- A\n");
    char byte;
    while (read(0, &byte, 1) == 1) {}
    return 0;
}
