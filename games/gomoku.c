/* Gomoku on 15×15:
 *
 *     cc -O2 -o gomoku games/gomoku.c
 *     referee --game ./gomoku BOT1 BOT2, or with --game-option opening=swap
 *
 * Five or more in a row, column or diagonal win. A bot is sent its mark and the 225 cells, row by row from the top left
 * (`X ......`), and answers with a cell: a column, a to o, and a row, 1 to 15 from the top (`h8`). X begins.
 *
 * With opening=swap the side that begins puts down the first three stones, X, O and X; the other side then answers `swap` to
 * play X, or puts down O. It is sent `X=?` or `O=?` for these stones, and `swap` with the mark for the choice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 15, CELLS = SIZE * SIZE };

/* The board, the side that plays X, and the opening: `none`, `swap` until the choice, then `done`. */
typedef struct {
    char board[CELLS + 1], opening[5];
    int x;
} Game;

typedef struct {
    int first, last;
    char mark;
} Five;

/* Copies the text of a field of the question. A text that does not fit, or has an escaped character, is none of this game:
 * then its first character is '!'. 0 when there is no such field. */
static int field(const char *question, const char *name, char *out, size_t size) {
    char key[32];
    size_t length = 0;
    snprintf(key, sizeof key, "\"%s\":\"", name);
    const char *at = strstr(question, key);
    if (at == NULL) return 0;
    for (at += strlen(key); *at != '"' && *at != '\0'; at++) {
        if (*at == '\\' || length + 1 >= size) {
            strcpy(out, "!");
            return 1;
        }
        out[length++] = *at;
    }
    out[length] = '\0';
    return 1;
}

static int count(const char *board, char mark) {
    int found = 0;
    for (int cell = 0; cell < CELLS; cell++) found += board[cell] == mark;
    return found;
}

static char to_move(const char *board) { return count(board, 'X') == count(board, 'O') ? 'X' : 'O'; }

static int is_mark(const char *board, int row, int column, char mark) {
    return row >= 0 && row < SIZE && column >= 0 && column < SIZE && board[row * SIZE + column] == mark;
}

/* The lines of five or more, at most `most`; returns how many. */
static int fives(const char *board, Five *found, int most) {
    static const int STEPS[4][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};
    int all = 0;
    for (int cell = 0; cell < CELLS; cell++) {
        int row = cell / SIZE, column = cell % SIZE;
        for (int step = 0; step < 4 && board[cell] != '.'; step++) {
            int down = STEPS[step][0], right = STEPS[step][1], length = 1;
            if (is_mark(board, row - down, column - right, board[cell])) continue;
            while (is_mark(board, row + length * down, column + length * right, board[cell])) length++;
            if (length < 5 || all == most) continue;
            found[all].first = cell;
            found[all].last = cell + (length - 1) * (down * SIZE + right);
            found[all++].mark = board[cell];
        }
    }
    return all;
}

static const char *name_of(int cell, char *out) {
    sprintf(out, "%c%d", 'a' + cell % SIZE, cell / SIZE + 1);
    return out;
}

static void position(const Game *game) {
    Five lines[64];
    char first[16], last[16], mark = to_move(game->board);
    int all = fives(game->board, lines, 64), stones = CELLS - count(game->board, '.');
    printf("{\"state\":\"%s %d %s\"", game->board, game->x, game->opening);
    if (all > 0) {
        printf(",\"over\":{\"winner\":%d,\"lines\":[", lines[0].mark == 'X' ? game->x : 1 - game->x);
        for (int i = 0; i < all; i++) {
            printf("%s[\"%s to %s\",\"%c\"]", i ? "," : "", name_of(lines[i].first, first), name_of(lines[i].last, last), lines[i].mark);
        }
        printf("]}");
    } else if (stones == CELLS) {
        printf(",\"over\":{\"winner\":null}");
    } else if (strcmp(game->opening, "swap") == 0 && stones < 3) {
        printf(",\"side\":0,\"request\":\"%c=? %s\"", mark, game->board);
    } else {
        const char *choice = strcmp(game->opening, "swap") == 0 ? "swap" : "";
        printf(",\"side\":%d,\"request\":\"%s%c %s\"", mark == 'X' ? game->x : 1 - game->x, choice, mark, game->board);
    }
}

/* 0 of a text that is no state. */
static int read_state(const char *text, Game *game) {
    Five lines[64];
    if (strlen(text) != CELLS + 7 || strspn(text, "XO.") != CELLS || text[CELLS] != ' ' || text[CELLS + 2] != ' ') return 0;
    if (text[CELLS + 1] != '0' && text[CELLS + 1] != '1') return 0;
    memcpy(game->board, text, CELLS);
    game->board[CELLS] = '\0';
    game->x = text[CELLS + 1] - '0';
    strcpy(game->opening, text + CELLS + 3);
    int more = count(game->board, 'X') - count(game->board, 'O'), stones = CELLS - count(game->board, '.');
    int is_none = strcmp(game->opening, "none") == 0, is_swap = strcmp(game->opening, "swap") == 0;
    int is_done = strcmp(game->opening, "done") == 0;
    if (more < 0 || more > 1 || !(is_none || is_swap || is_done)) return 0;
    if (is_done ? stones < 3 : game->x != 0 || (is_swap && stones > 3)) return 0;
    /* Only the mark that moved last can have a line. */
    int all = fives(game->board, lines, 64);
    for (int i = 0; i < all; i++) {
        if (lines[i].mark == to_move(game->board)) return 0;
    }
    return 1;
}

/* The cell of an answer; -1 when it is none. */
static int cell_of(const char *text) {
    char name[16];
    int row = strlen(text) == 2 || strlen(text) == 3 ? atoi(text + 1) : 0, cell = (row - 1) * SIZE + text[0] - 'a';
    if (text[0] < 'a' || text[0] > 'o' || row < 1 || row > SIZE) return -1;
    return strcmp(name_of(cell, name), text) == 0 ? cell : -1;
}

static void play(Game game, const char *answer) {
    char mark = to_move(game.board);
    int is_choice = strcmp(game.opening, "swap") == 0 && CELLS - count(game.board, '.') == 3, cell = cell_of(answer);
    if (is_choice) strcpy(game.opening, "done");
    if (strcmp(answer, "swap") == 0 && is_choice) {
        game.x = 1;
        position(&game);
        printf(",\"turn\":\"swap\",\"words\":\"swaps, and plays X\"}\n");
    } else if (cell < 0) {
        printf("{\"malformed\":\"expected a cell, such as h8%s\"}\n", is_choice ? ", or swap" : "");
    } else if (game.board[cell] != '.') {
        printf("{\"illegal\":\"there is a stone on %s already\"}\n", answer);
    } else {
        game.board[cell] = mark;
        position(&game);
        printf(",\"turn\":\"%s\",\"words\":\"puts %c on %s\"}\n", answer, mark, answer);
    }
}

static void drawing(const char *board) {
    Five lines[64];
    int all = fives(board, lines, 64);
    printf("{\"cells\":[");
    for (int cell = 0; cell < CELLS; cell++) {
        char text[2] = {board[cell] == '.' ? '\0' : board[cell], '\0'};
        printf("%s\"%s\"%s", cell % SIZE ? "," : cell ? ",[" : "[", text, cell % SIZE == SIZE - 1 ? "]" : "");
    }
    printf("],\"columns\":[");
    for (int i = 0; i < SIZE; i++) printf("%s\"%c\"", i ? "," : "", 'a' + i);
    printf("],\"rows\":[");
    for (int i = 0; i < SIZE; i++) printf("%s\"%d\"", i ? "," : "", i + 1);
    printf("],\"winning\":[");
    for (int i = 0; i < all; i++) {
        int first = lines[i].first, last = lines[i].last;
        printf("%s[%d,%d],[%d,%d]", i ? "," : "", first / SIZE, first % SIZE, last / SIZE, last % SIZE);
    }
    printf("],\"svg\":\"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0.3 0.3 15.4 15.4'>");
    for (int i = 1; i <= SIZE; i++) printf("<path d='M%d 1V15M1 %dH15' stroke='currentColor' stroke-width='.03'/>", i, i);
    for (int cell = 0; cell < CELLS; cell++) {
        if (board[cell] == '.') continue;
        printf("<circle cx='%d' cy='%d' r='.42' fill='%s' stroke='#222' stroke-width='.05'/>", cell % SIZE + 1, cell / SIZE + 1,
               board[cell] == 'X' ? "#222" : "#fff");
    }
    printf("</svg>\"}\n");
}

static void answers(const Game *game) {
    const char *comma = "";
    char name[16];
    printf("{\"answers\":[");
    for (int cell = 0; cell < CELLS; cell++) {
        if (game->board[cell] != '.') continue;
        printf("%s\"%s\"", comma, name_of(cell, name));
        comma = ",";
    }
    if (strcmp(game->opening, "swap") == 0 && count(game->board, '.') == CELLS - 3) printf(",\"swap\"");
    printf("]}\n");
}

static void start(const char *question) {
    Game game = {.x = 0};
    char opening[8] = "none", whole[48];
    int is_given = field(question, "opening", opening, sizeof opening);
    snprintf(whole, sizeof whole, "\"options\":{\"opening\":\"%s\"}", opening);
    int is_known = strstr(question, is_given ? whole : "\"options\":{}") != NULL;
    if (!is_known || (strcmp(opening, "none") != 0 && strcmp(opening, "swap") != 0)) {
        printf("{\"error\":\"expected opening=none or opening=swap, and no other option\"}\n");
        return;
    }
    memset(game.board, '.', CELLS);
    memcpy(game.opening, opening, 5);
    position(&game);
    printf("}\n");
}

int main(void) {
    static char question[65536];
    while (fgets(question, sizeof question, stdin) != NULL) {
        char kind[16] = "", state[CELLS + 16] = "", answer[16] = "";
        Game game;
        field(question, "do", kind, sizeof kind);
        field(question, "state", state, sizeof state);
        field(question, "answer", answer, sizeof answer);
        if (strcmp(kind, "about") == 0) {
            printf("{\"name\":\"gomoku\",\"about\":\"Five or more in a row win. Answer with a free cell, such as h8: a column, a to "
                   "o, and a row, 1 to 15 from the top.\",\"first_drawn\":true,\"answers\":true,\"drawing\":true}\n");
        } else if (strcmp(kind, "start") == 0) {
            start(question);
        } else if (!read_state(state, &game)) {
            printf("{\"error\":\"expected a state of gomoku: 225 cells of X, O and ., the side that plays X, and the opening\"}\n");
        } else if (strcmp(kind, "play") == 0) {
            play(game, answer);
        } else if (strcmp(kind, "answers") == 0) {
            answers(&game);
        } else if (strcmp(kind, "drawing") == 0) {
            drawing(game.board);
        } else {
            position(&game);
            printf("}\n");
        }
        fflush(stdout);
    }
    return 0;
}
