/* Reads a question a line, and prints the answer of strategy.c. */
#include <stdio.h>
#include <string.h>

#include "strategy.h"

int main(void) {
    char line[64];
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (fgets(line, sizeof line, stdin)) {
        int cells[16], count = 0;
        char left[17] = "", *end = left;
        for (int i = 0; i < 16; i++) {
            if (line[i] == '.')
                cells[count++] = i + 1;
            if (!strchr(line, 'A' + i))
                *end++ = (char)('A' + i);
        }
        *end = '\0';
        struct turn turn = choose(line, line[17], cells, count, left);
        if (line[17] == '-')
            printf("- %c\n", turn.gift);
        else
            printf("%d %c\n", turn.cell, *left ? turn.gift : '-');
    }
    return 0;
}
