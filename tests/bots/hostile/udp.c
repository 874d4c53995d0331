/* Sends a datagram. */
#include "hostile.h"
#include <netinet/in.h>
static int attack(int argc, char **argv)
{
    (void)argc;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    return s < 0 || sendto(s, "x", 1, 0, (struct sockaddr *)&to, sizeof to) != 1 ? -1 : 0;
}
