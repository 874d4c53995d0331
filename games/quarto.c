/* Quarto as a game of its own, by the standard rules and with the built-in pieces, quick:
 *
 *     cc -O2 -o quarto games/quarto.c
 *     referee --game ./quarto BOT1 BOT2
 *
 * games/quarto.py is the same, easier to read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char PIECES[] = "ABCDEFGHIJKLMNOP";
static const char *const PROPERTIES[4][2] = {{"big", "small"}, {"red", "blue"}, {"square", "circular"}, {"hollow", "solid"}};
static const char *const NAMES[10] = {"H1", "H2", "H3", "H4", "V1", "V2", "V3", "V4", "D1", "D2"};
static const int LINES[10][4] = {{0, 1, 2, 3},  {4, 5, 6, 7},  {8, 9, 10, 11}, {12, 13, 14, 15}, {0, 4, 8, 12},
                                 {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15}, {0, 5, 10, 15},   {3, 6, 9, 12}};

/* A board of 16 characters, and the piece in hand or '-'. */
struct position {
    char board[17];
    char hand;
};

/* Copies the text of a field; one that does not fit, or has an escaped character, is none of this game. */
static int field(const char *question, const char *name, char *out, size_t size) {
    char key[32];
    snprintf(key, sizeof key, "\"%s\":\"", name);
    /* Within a text a quote has a backslash before it, so this is a key. */
    const char *at = strstr(question, key);
    size_t length = 0;
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

static int bits(char piece) {
    const char *at = piece == '\0' ? NULL : strchr(PIECES, piece);
    return at == NULL ? -1 : (int)(at - PIECES);
}

/* The properties that a full line has in common, as bits of ones and of zeros; 0 for none. */
static int common(const char *board, const int *line) {
    int ones = 15, zeros = 15;
    for (int i = 0; i < 4; i++) {
        int piece = bits(board[line[i]]);
        if (piece < 0) return 0;
        ones &= piece;
        zeros &= ~piece;
    }
    return ones | (zeros & 15) << 4;
}

static int is_won(const char *board) {
    for (int i = 0; i < 10; i++) {
        if (common(board, LINES[i])) return 1;
    }
    return 0;
}

static int placed(const char *board) {
    int count = 0;
    for (int cell = 0; cell < 16; cell++) count += board[cell] != '.';
    return count;
}

static int read_position(const char *text, struct position *position) {
    int seen = 0;
    size_t length = strlen(text);
    if (length != 16 && !(length == 18 && text[16] == ' ')) return 0;
    memcpy(position->board, text, 16);
    position->board[16] = '\0';
    position->hand = length == 18 ? text[17] : '-';
    for (int i = 0; i < 17; i++) {
        char symbol = i < 16 ? text[i] : position->hand;
        if (symbol == (i < 16 ? '.' : '-')) continue;
        if (bits(symbol) < 0 || seen >> bits(symbol) & 1) return 0;
        seen |= 1 << bits(symbol);
    }
    return 1;
}

/* The first side gives, so it also places the second piece, the fourth …. Leaves the object open. */
static void print_position(const struct position *position) {
    int count = placed(position->board), first = 1;
    printf("{\"state\":\"%s", position->board);
    if (position->hand != '-') printf(" %c", position->hand);
    putchar('"');
    for (int i = 0; i < 10; i++) {
        int found = common(position->board, LINES[i]);
        for (int feature = 0; feature < 4; feature++) {
            int one = found >> feature & 1, zero = found >> (feature + 4) & 1;
            if (!one && !zero) continue;
            if (first) printf(",\"over\":{\"winner\":%d,\"lines\":[", count % 2);
            printf("%s[\"%s\",\"%s\"]", first ? "" : ",", NAMES[i], PROPERTIES[feature][one]);
            first = 0;
        }
    }
    if (!first) {
        printf("]}");
    } else if (count == 16) {
        printf(",\"over\":{\"winner\":null}");
    } else {
        int side = position->hand == '-' ? 0 : 1 - count % 2;
        printf(",\"side\":%d,\"request\":\"%s %c\"", side, position->board, position->hand);
    }
}

static void refuse(const char *kind, const char *why) { printf("{\"%s\":\"%s\"}\n", kind, why); }

static void play(struct position position, const char *answer) {
    char where[8] = "", gift[8] = "", more[2] = "", hand = position.hand;
    int words = sscanf(answer, "%7s %7s %1s", where, gift, more), cell = 0;
    if (words < 1 || words > 2) {
        refuse("malformed", hand == '-' ? "expected `- GIFT`" : "expected `CELL GIFT`");
        return;
    }
    if (hand == '-') {
        if (words == 1) strcpy(gift, where), strcpy(where, "-");
        if (strcmp(where, "-") != 0) {
            refuse("illegal", "there is no piece to place");
            return;
        }
    } else {
        if (strlen(where) > 2 || strspn(where, "0123456789") != strlen(where)) {
            refuse("malformed", "expected `CELL GIFT`");
            return;
        }
        cell = atoi(where);
        if (cell < 1 || cell > 16 || position.board[cell - 1] != '.') {
            refuse("illegal", "expected a free cell, 1 to 16");
            return;
        }
        position.board[cell - 1] = hand;
        position.hand = '-';
        if (is_won(position.board) || placed(position.board) == 16) {
            print_position(&position);
            printf(",\"turn\":\"%d -\",\"words\":\"places %c on %d\"}\n", cell, hand, cell);
            return;
        }
    }
    if (strlen(gift) != 1 || bits(gift[0]) < 0) {
        refuse("malformed", "expected a piece as GIFT, A to P");
        return;
    }
    if (strchr(position.board, gift[0]) != NULL || gift[0] == hand) {
        refuse("illegal", "that piece has been used");
        return;
    }
    position.hand = gift[0];
    print_position(&position);
    if (cell == 0) {
        printf(",\"turn\":\"- %c\",\"words\":\"gives %c\"}\n", gift[0], gift[0]);
    } else {
        printf(",\"turn\":\"%d %c\",\"words\":\"places %c on %d, gives %c\"}\n", cell, gift[0], hand, cell, gift[0]);
    }
}

static void answers(const struct position *position) {
    const char *comma = "";
    int is_last = position->hand != '-' && placed(position->board) == 15;
    printf("{\"answers\":[");
    for (int cell = position->hand == '-' ? 15 : 0; cell < 16; cell++) {
        char where[8] = "-";
        if (position->hand != '-') {
            if (position->board[cell] != '.') continue;
            snprintf(where, sizeof where, "%d", cell + 1);
        }
        for (int piece = 0; piece < (is_last ? 1 : 16); piece++) {
            char gift = is_last ? '-' : PIECES[piece];
            if (!is_last && (strchr(position->board, gift) != NULL || gift == position->hand)) continue;
            printf("%s\"%s %c\"", comma, where, gift);
            comma = ",";
        }
    }
    printf("]}\n");
}

int main(void) {
    static char question[65536];
    while (fgets(question, sizeof question, stdin) != NULL) {
        char kind[16] = "", state[64] = "................", answer[64] = "";
        struct position position;
        field(question, "do", kind, sizeof kind);
        field(question, "state", state, sizeof state);
        field(question, "answer", answer, sizeof answer);
        if (strcmp(kind, "about") == 0) {
            printf("{\"name\":\"quarto\",\"about\":\"Place the piece in hand, and give one: CELL GIFT. Four in a line with a "
                   "common property win.\",\"first_drawn\":true,\"answers\":true}\n");
        } else if (strcmp(kind, "start") == 0 && strstr(question, "\"options\":{}") == NULL) {
            refuse("error", "there are no options");
        } else if (!read_position(state, &position)) {
            refuse("error", "expected a board of 16 characters, and the piece in hand if there is one");
        } else if (strcmp(kind, "play") == 0) {
            play(position, answer);
        } else if (strcmp(kind, "answers") == 0) {
            answers(&position);
        } else {
            print_position(&position);
            printf("}\n");
        }
        fflush(stdout);
    }
    return 0;
}
