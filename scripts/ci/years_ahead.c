/* Preloaded by rough.sh: the date is fourteen years ahead. Clocks that measure durations or CPU time are as ever, which
   libfaketime shifts, too. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const time_t ahead = 14 * 31557600L;

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += ahead;
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    int result = syscall(SYS_gettimeofday, now, zone);
    if (result == 0)
        now->tv_sec += ahead;
    return result;
}

time_t time(time_t *now)
{
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    if (now)
        *now = precise.tv_sec;
    return precise.tv_sec;
}
