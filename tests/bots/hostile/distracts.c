/* Starts 200 processes, some of which keep whoever watches it busy with questions. */
#define ASKING 2
#include "forks.c"
