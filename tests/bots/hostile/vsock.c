/* Opens a socket to the host of a virtual machine. */
#include "hostile.h"

static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return socket(AF_VSOCK, SOCK_STREAM, 0) < 0 ? -1 : 0;
}
