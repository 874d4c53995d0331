/* Listens on a port of this machine. */
#include "hostile.h"
#include <netinet/in.h>
static int attack(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    struct sockaddr_in at = {.sin_family = AF_INET};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int s = socket(AF_INET, SOCK_STREAM, 0);
    return s < 0 || bind(s, (struct sockaddr *)&at, sizeof at) < 0 ? -1 : listen(s, 1);
}
