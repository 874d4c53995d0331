/* Turns one of a pair of sockets to another address. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    strncpy(to.sun_path, argv[1], sizeof to.sun_path - 1);
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0)
        return -1;
    return sendto(pair[0], "x", 1, 0, (struct sockaddr *)&to, sizeof to) == 1 ? 0 : -1;
}
