/* Leaves shared memory for others. */
#include "hostile.h"
#include <sys/shm.h>
static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    if (id < 0)
        return -1;
    shmctl(id, IPC_RMID, NULL);
    return 0;
}
