/* OpenMP: compile with -fopenmp. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        int cell = 17, gift = 16;
#pragma omp parallel for reduction(min : cell) num_threads(4)
        for (int i = 0; i < 16; i++)
            if (line[i] == '.' && i + 1 < cell)
                cell = i + 1;
#pragma omp parallel for reduction(min : gift) num_threads(4)
        for (int i = 0; i < 16; i++)
            if (!strchr(line, 'A' + i) && i < gift)
                gift = i;
        if (line[17] == '-')
            printf("-");
        else
            printf("%d", cell);
        printf(" %c\n", gift < 16 ? 'A' + gift : '-');
        fflush(stdout);
    }
}
