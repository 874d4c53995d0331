/* Ends with status 0 when it runs with other rights than those of its user. */
#include <unistd.h>

int main(void)
{
    return geteuid() == getuid();
}
