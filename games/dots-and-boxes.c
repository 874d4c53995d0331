/* Dots and Boxes:
 *
 *     cc -O2 -o dots-and-boxes games/dots-and-boxes.c
 *     referee --game ./dots-and-boxes BOT1 BOT2, or with --game-option size=4
 *
 * Who draws the fourth side of a box has it, and draws again; more boxes win. Lines are numbered row by row from the top
 * left, as one reads: first the lines above the boxes of a row, then those beside them. A bot is sent the size, the boxes that
 * it and the opponent have, and a character for each line, `.` or `#` (`3 0 0 ........................`), and answers with
 * the number of a line, from 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int size, side;
    char lines[85], boxes[37];
} Game;

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

static size_t line_count(int size) { return (size_t)(2 * size * (size + 1)); }

/* One of the four lines of a box, from 0 on: above, left, right and below. */
static int side_of(int size, int box, int which) {
    int above = (2 * size + 1) * (box / size) + box % size;
    return which == 0 ? above : which == 1 ? above + size : which == 2 ? above + size + 1 : above + 2 * size + 1;
}

static int is_full(const Game *game, int box) {
    for (int which = 0; which < 4; which++) {
        if (game->lines[side_of(game->size, box, which)] != '#') return 0;
    }
    return 1;
}

static int points(const Game *game, char side) {
    int found = 0;
    for (const char *at = game->boxes; *at != '\0'; at++) found += *at == side;
    return found;
}

/* The state: size, lines, whose each box is (`.`, `0` or `1`), and the side to move: `2 #........... .... 0`. */
static void position(const Game *game) {
    int both[2] = {points(game, '0'), points(game, '1')};
    printf("{\"state\":\"%d %s %s %d\"", game->size, game->lines, game->boxes, game->side);
    if (strchr(game->lines, '.') != NULL) {
        printf(",\"side\":%d,\"request\":\"%d %d %d %s\"", game->side, game->size, both[game->side], both[1 - game->side],
               game->lines);
    } else {
        const char *winner = both[0] == both[1] ? "null" : both[0] > both[1] ? "0" : "1";
        printf(",\"over\":{\"winner\":%s,\"points\":[%d,%d]}", winner, both[0], both[1]);
    }
}

static void begin(Game *game, int size) {
    memset(game, 0, sizeof *game);
    game->size = size;
    memset(game->lines, '.', line_count(size));
    memset(game->boxes, '.', (size_t)(size * size));
}

/* 0 of a text that is no state. */
static int read_state(const char *text, Game *game) {
    char side = 0, end = 0;
    if (text[0] < '1' || text[0] > '6' || text[1] != ' ') return 0;
    begin(game, text[0] - '0');
    size_t lines = line_count(game->size), boxes = (size_t)(game->size * game->size);
    if (strlen(text) != 2 + lines + 1 + boxes + 2) return 0;
    memcpy(game->lines, text + 2, lines);
    memcpy(game->boxes, text + 3 + lines, boxes);
    side = text[4 + lines + boxes];
    end = text[3 + lines + boxes];
    if (text[2 + lines] != ' ' || end != ' ' || (side != '0' && side != '1')) return 0;
    if (strspn(game->lines, ".#") != lines || strspn(game->boxes, ".01") != boxes) return 0;
    for (int box = 0; box < game->size * game->size; box++) {
        if (is_full(game, box) != (game->boxes[box] != '.')) return 0;
    }
    game->side = side - '0';
    return 1;
}

static void play(Game game, const char *answer) {
    int all = (int)line_count(game.size), won = 0, number;
    if (strlen(answer) < 1 || strlen(answer) > 2 || strspn(answer, "0123456789") != strlen(answer)) {
        printf("{\"malformed\":\"expected the number of a line, 1 to %d\"}\n", all);
        return;
    }
    number = atoi(answer);
    if (number < 1 || number > all) {
        printf("{\"illegal\":\"there is no line %d; the lines are 1 to %d\"}\n", number, all);
        return;
    }
    if (game.lines[number - 1] == '#') {
        printf("{\"illegal\":\"line %d is drawn already\"}\n", number);
        return;
    }
    game.lines[number - 1] = '#';
    for (int box = 0; box < game.size * game.size; box++) {
        if (game.boxes[box] != '.' || !is_full(&game, box)) continue;
        game.boxes[box] = (char)('0' + game.side);
        won++;
    }
    if (won == 0) game.side = 1 - game.side;
    position(&game);
    printf(",\"turn\":\"%d\",\"words\":\"draws line %d", number, number);
    if (won > 0) printf(", and has %d more", won);
    printf("\"}\n");
}

static void drawing(const Game *game) {
    int size = game->size, wide = 2 * size + 1;
    char row_text[64];
    printf("{\"text\":[");
    for (int row = 0; row < 2 * size + 1; row++) {
        size_t length = 0;
        const char *lines = game->lines + wide * (row / 2) + (row % 2 ? size : 0);
        if (row % 2 == 0) row_text[length++] = '+';
        for (int place = 0; place < size + row % 2; place++) {
            const char *drawn = lines[place] == '#' ? (row % 2 ? "|" : "--") : (row % 2 ? " " : "  ");
            length += (size_t)sprintf(row_text + length, "%s", drawn);
            if (row % 2 == 0) row_text[length++] = '+';
            if (row % 2 == 0 || place == size) continue;
            char owner = game->boxes[size * (row / 2) + place];
            length += (size_t)sprintf(row_text + length, "%c ", owner == '.' ? ' ' : owner);
        }
        while (length > 0 && row_text[length - 1] == ' ') length--;
        row_text[length] = '\0';
        printf("%s\"%s\"", row ? "," : "", row_text);
    }
    printf("],\"svg\":\"<svg xmlns='http://www.w3.org/2000/svg' viewBox='-.1 -.1 %d.2 %d.2'>", size, size);
    for (int box = 0; box < size * size; box++) {
        if (game->boxes[box] == '.') continue;
        const char *fill = game->boxes[box] == '0' ? "#2c5fb4" : "#e0603a";
        printf("<rect x='%d' y='%d' width='1' height='1' fill='%s' fill-opacity='.5'/>", box % size, box / size, fill);
    }
    for (int number = 0; game->lines[number] != '\0'; number++) {
        int row = number / wide, place = number % wide, is_drawn = game->lines[number] == '#';
        if (place < size) printf("<path d='M%d %dh1'", place, row);
        else printf("<path d='M%d %dv1'", place - size, row);
        printf(" stroke='currentColor' stroke-width='%s' stroke-opacity='%s'/>", is_drawn ? ".08" : ".02", is_drawn ? "1" : ".4");
    }
    printf("</svg>\"}\n");
}

int main(void) {
    static char question[65536];
    while (fgets(question, sizeof question, stdin) != NULL) {
        char kind[16] = "", state[192] = "", answer[16] = "", size[8] = "3";
        Game game;
        field(question, "do", kind, sizeof kind);
        field(question, "state", state, sizeof state);
        field(question, "answer", answer, sizeof answer);
        if (strcmp(kind, "about") == 0) {
            printf("{\"name\":\"dots-and-boxes\",\"about\":\"Answer with the number of a line that is not drawn. The fourth side "
                   "of a box wins it, and you draw again.\",\"first_drawn\":true,\"answers\":true,\"drawing\":true}\n");
        } else if (strcmp(kind, "start") == 0) {
            char whole[40];
            int is_given = field(question, "size", size, sizeof size);
            snprintf(whole, sizeof whole, "\"options\":{\"size\":\"%s\"}", size);
            int is_known = strstr(question, is_given ? whole : "\"options\":{}") != NULL;
            if (!is_known || strlen(size) != 1 || size[0] < '1' || size[0] > '6') {
                printf("{\"error\":\"expected size=3, from 1 to 6, and no other option\"}\n");
            } else {
                begin(&game, size[0] - '0');
                position(&game);
                printf("}\n");
            }
        } else if (!read_state(state, &game)) {
            printf("{\"error\":\"expected a state of dots-and-boxes: size, lines, boxes and side, such as `1 .... . 0`\"}\n");
        } else if (strcmp(kind, "play") == 0) {
            play(game, answer);
        } else if (strcmp(kind, "answers") == 0) {
            const char *comma = "";
            printf("{\"answers\":[");
            for (int number = 0; game.lines[number] != '\0'; number++) {
                if (game.lines[number] != '.') continue;
                printf("%s\"%d\"", comma, number + 1);
                comma = ",";
            }
            printf("]}\n");
        } else if (strcmp(kind, "drawing") == 0) {
            drawing(&game);
        } else {
            position(&game);
            printf("}\n");
        }
        fflush(stdout);
    }
    return 0;
}
