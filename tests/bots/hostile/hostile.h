/* What the hostile bots share: each waits for the first question, makes its attack, says on
   stderr how that went, and ends. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* 0 when it succeeded; otherwise it was blocked, and errno says how. */
static int attack(int argc, char **argv);

__attribute__((unused)) static void wait_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&time, &time) < 0 && errno == EINTR) {}
}

/* Keeps what was taken, for far longer than a check of the referee needs: which of the two is quicker does not matter. */
__attribute__((unused)) static void hold(void)
{
    wait_ms(3000);
}

/* Until nobody has the other end of a pipe. */
__attribute__((unused)) static void wait_for(int end)
{
    char byte;
    while (read(end, &byte, 1) == 1) {}
}

/* Fills memory, also when nobody reads it. */
__attribute__((unused)) static void fill(char *memory, size_t bytes)
{
    memset(memory, 1, bytes);
    __asm__ volatile("" : : "r"(memory) : "memory");
}

/* A path in the directory for temporary files. */
__attribute__((unused)) static const char *in_scratch(const char *name)
{
    static char path[4096];
    const char *directory = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/%s", directory ? directory : "/tmp", name);
    return path;
}

/* A path beside the program. */
__attribute__((unused)) static const char *beside(const char *program, const char *name)
{
    static char path[4096];
    const char *slash = strrchr(program, '/');
    snprintf(path, sizeof path, "%.*s/%s", slash ? (int)(slash - program) : 1, slash ? program : ".", name);
    return path;
}

int main(int argc, char **argv)
{
    char byte;
    /* With this argument it does not wait, so that a test can see whether it works here. */
    if (getenv("AT_ONCE") == NULL)
        while (read(0, &byte, 1) == 1 && byte != '\n') {}
    errno = 0;
    int failed = attack(argc, argv);
    dprintf(2, failed ? "attack: blocked: %s\n" : "attack: succeeded\n", strerror(errno));
    return failed ? 1 : 0;
}
