/* Talks to the kernel about the network. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return socket(AF_NETLINK, SOCK_RAW, 0) < 0 ? -1 : 0;
}
