/* Turns one of a pair of sockets to another address, by a type of socket that is one of datagrams, too. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    strncpy(to.sun_path, argv[1], sizeof to.sun_path - 1);
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_RAW, 0, pair) < 0)
        return socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair);
    return sendto(pair[0], "x", 1, 0, (struct sockaddr *)&to, sizeof to) == 1 ? 0 : -1;
}
