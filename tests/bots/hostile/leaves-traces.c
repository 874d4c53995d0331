/* Leaves whatever outlasts a process, in every way that there is, and looks for what an earlier process has
   left: files, shared memory, queues of messages a socket without a file, and a process. */
#include "hostile.h"
#include <dirent.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/shm.h>

#define NAME "left-behind"

static int has_name(const char *pid)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%.16s/comm", pid);
    int opened = open(path, O_RDONLY);
    if (opened < 0)
        return 0;
    ssize_t length = read(opened, name, sizeof name - 1);
    close(opened);
    return length > 0 && strncmp(name, NAME, strlen(NAME)) == 0;
}

static int process(void)
{
    DIR *all = opendir("/proc");
    struct dirent *entry;
    int found = 0;
    while (all != NULL && (entry = readdir(all)) != NULL)
        found |= entry->d_name[0] >= '0' && entry->d_name[0] <= '9' && has_name(entry->d_name);
    if (all != NULL)
        closedir(all);
    if (fork() == 0) {
        setsid();
        prctl(PR_SET_NAME, NAME);
        for (int i = 0; i < 1024; i++)
            close(i);
        signal(SIGTERM, SIG_IGN);
        wait_ms(20000);
        _exit(0);
    }
    return found;
}

static int address(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "\0" NAME};
    int pair = socket(AF_UNIX, SOCK_STREAM, 0);
    if (pair < 0)
        return 0;
    if (connect(pair, (struct sockaddr *)&name, sizeof name) == 0)
        return 1;
    if (bind(pair, (struct sockaddr *)&name, sizeof name) == 0)
        listen(pair, 1);
    return 0;
}

static int segments(void)
{
    const key_t key = 0x1ef7be;
    int found = shmget(key, 4096, 0600) >= 0 || msgget(key, 0600) >= 0;
    shmget(key, 4096, IPC_CREAT | 0600);
    msgget(key, IPC_CREAT | 0600);
    mqd_t queue = mq_open("/" NAME, O_RDWR);
    found |= queue != (mqd_t)-1;
    mq_open("/" NAME, O_RDWR | O_CREAT, 0600, NULL);
    return found;
}

static int attack(int argc, char **argv)
{
    (void)argc;
    const char *files[] = {
        strdup(in_scratch(NAME)), strdup(beside(argv[0], NAME)), NAME, "/tmp/" NAME, "/dev/shm/" NAME, "/dev/" NAME,
    };
    const int count = sizeof files / sizeof *files;
    int found = 0;
    for (int i = 0; i < count; i++)
        found |= access(files[i], F_OK) == 0;
    for (int i = 0; i < count; i++)
        close(open(files[i], O_WRONLY | O_CREAT, 0666));
    found |= address() | segments() | process();
    /* What is not for us to remove without a sandbox. */
    if (found) {
        for (int i = 0; i < count; i++)
            unlink(files[i]);
        shmctl(shmget(0x1ef7be, 4096, 0600), IPC_RMID, NULL);
        msgctl(msgget(0x1ef7be, 0600), IPC_RMID, NULL);
        mq_unlink("/" NAME);
    }
    if (!found)
        errno = ENOENT;
    return found ? 0 : -1;
}
