/* A Monte Carlo player: it plays every turn on to the end many times, at random, and takes
 * the one that won most often. It thinks for 0.2 seconds a move, or for 40 % of the time for
 * a move if that is less; as the clock decides, a seed does not make it play the same game
 * twice.
 *
 * Build and run:  cc -O2 -o montecarlo montecarlo.c -lm && ./montecarlo
 * (Debian package: gcc)
 * It reads requests `BOARD PIECE` and answers `CELL GIFT`; see ../protocol.md.
 */

#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A set of cells has bit 0 for cell 1, ..., bit 15 for cell 16; a set of pieces likewise has
 * a bit for each row of the piece set. */
typedef uint16_t Set;

/* Where the pieces with each property are. A property is twice its feature, plus 0 or 1. */
typedef struct {
    Set with[8];
} Board;

/* A turn that can be chosen, and what its playouts were worth. */
typedef struct {
    int cell, gift; /* from 0; -1 is none */
    Board after;
    Set left;
    double points, playouts;
} Turn;

static char symbols[16][5];  /* a character of UTF-8 is up to four bytes long */
static int properties[16][4];
static Set gaps[1 << 16]; /* for a set of cells, the cells that complete a line with it */

/* The value of an environment variable, empty when it is unset. */
static const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value != NULL ? value : "";
}

/* ---- random numbers ---- */

static uint64_t state;

/* A number from 0 to n - 1, by the generator xorshift64*. */
static int draw(int n)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (int)((state * UINT64_C(0x2545f4914f6cdd1d) >> 33) % (uint64_t)n);
}

static int count(Set set)
{
    int n = 0;
    for (; set != 0; set &= set - 1)
        n++;
    return n;
}

/* A random member of a set that is not empty. */
static int draw_member(Set set)
{
    for (int skip = draw(count(set)); skip > 0; skip--)
        set &= set - 1;
    int member = 0;
    while (!(set >> member & 1))
        member++;
    return member;
}

/* ---- the piece set ---- */

/* Cuts the next field off a CSV row, in place: without spaces around it and quotes. */
static char *next_field(char **row)
{
    char *from = *row + strspn(*row, " \t"), *field = from, *to = from;
    if (*from == '"') {
        for (from++; *from != '\0'; from++) {
            if (*from == '"' && *++from != '"')
                break; /* a quote ends the field, two are one */
            *to++ = *from;
        }
        from += strcspn(from, ",");
    } else {
        to = from += strcspn(from, ",");
    }
    *row = from + (*from == ',');
    while (to > field && strchr(" \t\r\n", to[-1]) != NULL)
        to--;
    *to = '\0';
    return field;
}

static void read_pieces(void)
{
    const char *path = setting("REFEREE_PIECES");
    if (*path == '\0') { /* the built-in set: A is 0000, B is 0001, ..., P is 1111 */
        for (int i = 0; i < 16; i++) {
            symbols[i][0] = (char)('A' + i);
            for (int f = 0; f < 4; f++)
                properties[i][f] = 2 * f + (i >> f & 1);
        }
        return;
    }
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    static char text[65536], first[4][65536];
    fgets(text, sizeof text, file); /* the header */
    for (int i = 0; i < 16 && fgets(text, sizeof text, file) != NULL; i++) {
        char *row = text;
        snprintf(symbols[i], sizeof symbols[i], "%s", next_field(&row));
        for (int f = 0; f < 4; f++) {
            const char *word = next_field(&row);
            if (i == 0)
                strcpy(first[f], word);
            properties[i][f] = 2 * f + (strcmp(word, first[f]) != 0);
        }
    }
    fclose(file);
}

/* ---- the rules ---- */

static void add_line(Set line)
{
    for (int cells = 0; cells < 1 << 16; cells++) {
        Set missing = line & ~cells;
        if ((missing & (missing - 1)) == 0) /* at most one cell */
            gaps[cells] |= missing;
    }
}

static void add_lines(void)
{
    for (int i = 0; i < 4; i++) {
        add_line((Set)(0x000f << 4 * i));
        add_line((Set)(0x1111 << i));
    }
    add_line(0x8421);
    add_line(0x1248);
    if (strcmp(setting("REFEREE_RULES"), "squares") == 0)
        for (int row = 0; row < 3; row++)
            for (int column = 0; column < 3; column++)
                add_line((Set)(0x0033 << (4 * row + column)));
}

static Set free_cells(const Board *board)
{
    return (Set) ~(board->with[0] | board->with[1]);
}

/* The free cells on which a piece makes a quarto. */
static Set winning_cells(const Board *board, int piece)
{
    Set cells = 0;
    for (int f = 0; f < 4; f++)
        cells |= gaps[board->with[properties[piece][f]]];
    return cells & free_cells(board);
}

static void place(Board *board, int cell, int piece)
{
    for (int f = 0; f < 4; f++)
        board->with[properties[piece][f]] |= (Set)(1 << cell);
}

/* ---- the player ---- */

/* Plays on to the end. Both players win when they can and give no piece that wins immediately if
 * they can help it; the rest is random. Returns what it is worth for the player who must
 * place `hand`: 1 for a win, 0.5 for a draw, 0 for a loss. */
static double playout(Board board, int hand, Set left)
{
    for (int other = 0;; other = !other) {
        if (winning_cells(&board, hand) != 0)
            return other ? 0 : 1;
        place(&board, draw_member(free_cells(&board)), hand);
        if (left == 0)
            return 0.5;
        Set safe = left;
        do {
            hand = draw_member(safe);
            safe &= (Set) ~(1 << hand);
        } while (safe != 0 && winning_cells(&board, hand) != 0);
        left &= (Set) ~(1 << hand);
    }
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Fills in the turns that are left to choose from when none wins; returns how many. If some
 * gifts do not win immediately, only those are there. */
static int list_turns(Turn *turns, const Board *board, int hand, Set left)
{
    int all = 0, safe = 0;
    for (int cell = hand < 0 ? -1 : 0; cell < (hand < 0 ? 0 : 16); cell++) {
        if (cell >= 0 && !(free_cells(board) >> cell & 1))
            continue;
        Board after = *board;
        if (cell >= 0)
            place(&after, cell, hand);
        for (int gift = 0; gift < 16; gift++) {
            if (!(left >> gift & 1))
                continue;
            Turn turn = {cell, gift, after, (Set)(left & ~(1 << gift)), 0, 0};
            turns[all++] = turn;
            if (winning_cells(&after, gift) == 0) { /* move it to the safe ones in front */
                turns[all - 1] = turns[safe];
                turns[safe++] = turn;
            }
        }
    }
    return safe > 0 ? safe : all;
}

/* Shares the time out among the turns: the better one has done so far, and the less often it
 * was tried, the sooner it is tried again (the formula is known as UCB1). */
static const Turn *choose(Turn *turns, int n, double deadline)
{
    double total = 0;
    while (n > 1 && now() < deadline) {
        Turn *best = NULL;
        double best_bound = 0;
        for (Turn *turn = turns; turn < turns + n; turn++) {
            double bound = turn->playouts == 0
                               ? INFINITY
                               : turn->points / turn->playouts +
                                     0.5 * sqrt(log(total) / turn->playouts);
            if (best == NULL || bound > best_bound) {
                best = turn;
                best_bound = bound;
            }
        }
        for (int i = 0; i < 16; i++) /* the next one to place is the other player */
            best->points += 1 - playout(best->after, best->gift, best->left);
        best->playouts += 16;
        total += 16;
    }
    /* The one that was tried most often is the best one. */
    const Turn *best = turns;
    for (const Turn *turn = turns; turn < turns + n; turn++)
        if (turn->playouts > best->playouts)
            best = turn;
    if (best->playouts > 0) /* what it thinks, for its record */
        fprintf(stderr, "info nodes %.0f score %.3f\n", total, 2 * best->points / best->playouts - 1);
    return best;
}

static int lowest(Set set)
{
    int member = 0;
    while (!(set >> member & 1))
        member++;
    return member;
}

int main(void)
{
    const char *seed = setting("REFEREE_SEED"), *move_time = setting("REFEREE_MOVE_TIME");
    state = *seed != '\0' ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
    state = state * UINT64_C(0x9e3779b97f4a7c15) + 1; /* never 0 for a seed below 2^31 */
    const double limit = fmin(0.2, 0.4 * (*move_time != '\0' ? strtod(move_time, NULL) : 10));
    read_pieces();
    add_lines();

    char text[16 * 4 + 1], in_hand[5];
    while (scanf("%64s %4s", text, in_hand) == 2) {
        const double deadline = now() + limit;
        Board board = {{0}};
        Set left = 0xffff;
        int hand = -1, cell = 0;
        for (const char *c = text; *c != '\0'; cell++) {
            int piece = 0;
            while (piece < 16 && strncmp(c, symbols[piece], strlen(symbols[piece])) != 0)
                piece++;
            if (piece < 16) {
                place(&board, cell, piece);
                left &= (Set) ~(1 << piece);
            }
            c += piece < 16 ? strlen(symbols[piece]) : 1; /* or a dot */
        }
        for (int piece = 0; piece < 16; piece++)
            if (strcmp(in_hand, symbols[piece]) == 0) {
                hand = piece;
                left &= (Set) ~(1 << piece);
            }

        int gift = left != 0 ? lowest(left) : -1;
        const Set wins = hand >= 0 ? winning_cells(&board, hand) : 0;
        if (wins != 0) {
            cell = lowest(wins);
        } else if (left == 0) { /* the last piece */
            cell = lowest(free_cells(&board));
        } else {
            static Turn turns[16 * 16];
            const Turn *turn = choose(turns, list_turns(turns, &board, hand, left), deadline);
            cell = turn->cell;
            gift = turn->gift;
        }

        if (cell < 0 || hand < 0)
            printf("-");
        else
            printf("%d", cell + 1);
        printf(" %s\n", gift >= 0 ? symbols[gift] : "-");
        fflush(stdout);
    }
    return 0;
}
