/* Meets one limit of docs/sandbox.md, whose name is its argument: blocked by an error, or killed. */
#include "hostile.h"
#include <limits.h>
#include <pthread.h>

static void *waits(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}

static int one_process(void)
{
    /* Reserved, not touched: that of all processes together is another limit. */
    for (int i = 0; i < 64; i++)
        if (mmap(NULL, 1 << 26, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
            return -1;
    return 0;
}

static int all_processes(void)
{
    for (int i = 0; i < 8; i++)
        if (fork() == 0) {
            char *some = malloc(32 << 20);
            if (some == NULL)
                _exit(1);
            fill(some, 32 << 20);
            hold();
            _exit(0);
        }
    hold();
    return 0;
}

static int processes(void)
{
    for (int i = 0; i < 100; i++) {
        pid_t child = fork();
        if (child < 0)
            return -1;
        if (child == 0) {
            hold();
            _exit(0);
        }
    }
    hold();
    return 0;
}

static int threads(void)
{
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
    hold();
    return 0;
}

static int open_files(void)
{
    for (int i = 0; i < 1000; i++)
        if (open("/dev/null", O_RDONLY) < 0)
            return -1;
    return 0;
}

/* Writes this many MiB into a file. */
static int written(const char *name, int most)
{
    static char some[1 << 20];
    int file = open(in_scratch(name), O_WRONLY | O_CREAT, 0600);
    memset(some, 1, sizeof some);
    for (int i = 0; i < most; i++) {
        size_t left = sizeof some;
        while (left > 0) {
            ssize_t count = write(file, some, left);
            if (count < 0)
                return -1;
            left -= (size_t)count;
        }
    }
    return close(file);
}

static int scratch(void)
{
    if (written("one", 40) < 0 || written("other", 40) < 0)
        return -1;
    hold();
    return 0;
}

static int files(void)
{
    for (int i = 0; i < 6000; i++) {
        char name[16];
        snprintf(name, sizeof name, "many-%d", i);
        int file = open(in_scratch(name), O_WRONLY | O_CREAT, 0600);
        if (file < 0)
            return -1;
        close(file);
    }
    hold();
    return 0;
}

static int mapped(void)
{
    const size_t size = 40 << 20;
    for (int i = 0; i < 2; i++) {
        char name[16];
        snprintf(name, sizeof name, "mapped-%d", i);
        int file = open(in_scratch(name), O_RDWR | O_CREAT, 0600);
        if (file < 0 || ftruncate(file, size) < 0)
            return -1;
        char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory == MAP_FAILED)
            return -1;
        fill(memory, size);
    }
    hold();
    return 0;
}

static int attack(int argc, char **argv)
{
    const char *limit = argc > 1 ? argv[1] : "";
    if (strcmp(limit, "memory of one process") == 0)
        return one_process();
    if (strcmp(limit, "memory of all processes") == 0)
        return all_processes();
    if (strcmp(limit, "processes") == 0)
        return processes();
    if (strcmp(limit, "processes and threads") == 0)
        return threads();
    if (strcmp(limit, "open files") == 0)
        return open_files();
    if (strcmp(limit, "size of a file") == 0)
        return written("large", 80);
    if (strcmp(limit, "bytes in the scratch directory") == 0)
        return scratch();
    if (strcmp(limit, "files in the scratch directory") == 0)
        return files();
    if (strcmp(limit, "scratch directory, through a mapped file") == 0)
        return mapped();
    return 0;
}
