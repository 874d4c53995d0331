/* Connects to a port of this machine. */
#include "hostile.h"
#include <netinet/in.h>
static int attack(int argc, char **argv)
{
    (void)argc;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int s = socket(AF_INET, SOCK_STREAM, 0);
    return s < 0 ? -1 : connect(s, (struct sockaddr *)&to, sizeof to);
}
