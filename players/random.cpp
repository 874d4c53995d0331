// A random player: any free cell, any piece left.
//
// Build and run:  c++ -std=c++17 -O2 -o random-cpp random.cpp && ./random-cpp
// (Debian package: g++)
// It reads requests `BOARD PIECE` and answers `CELL GIFT`; see ../protocol.md.

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <vector>

// The value of an environment variable, empty when it is unset.
static std::string setting(const char *name)
{
    const char *value = std::getenv(name);
    return value ? value : "";
}

// The character at the start of a text; in UTF-8 it is up to four bytes long.
static std::string first_character(const std::string &text)
{
    const unsigned char first = text[0];
    return text.substr(0, first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4);
}

static std::vector<std::string> characters(const std::string &text)
{
    std::vector<std::string> result;
    for (size_t at = 0; at < text.size(); at += result.back().size())
        result.push_back(first_character(text.substr(at)));
    return result;
}

static std::vector<std::string> read_pieces()
{
    const std::string path = setting("REFEREE_PIECES");
    if (path.empty())
        return characters("ABCDEFGHIJKLMNOP");
    std::ifstream file(path);
    std::string row;
    std::getline(file, row); // the header
    std::vector<std::string> pieces;
    while (std::getline(file, row)) {
        const size_t start = row.find_first_not_of(" \t\r");
        if (start != std::string::npos) // not a blank line; the field may be quoted
            pieces.push_back(first_character(row.substr(row[start] == '"' ? start + 1 : start)));
    }
    return pieces;
}

int main()
{
    const std::string seed = setting("REFEREE_SEED");
    std::mt19937 generator(seed.empty() ? std::random_device{}() : std::stoul(seed));
    const auto choose = [&generator](const auto &items) {
        std::uniform_int_distribution<size_t> index(0, items.size() - 1);
        return items[index(generator)];
    };
    const auto pieces = read_pieces();

    std::string text, hand;
    while (std::cin >> text >> hand) {
        const auto board = characters(text);
        std::vector<int> cells;
        for (size_t i = 0; i < board.size(); i++)
            if (board[i] == ".")
                cells.push_back(i + 1);
        std::vector<std::string> left;
        for (const auto &piece : pieces)
            if (text.find(piece) == std::string::npos && piece != hand)
                left.push_back(piece);

        const std::string cell = hand == "-" ? "-" : std::to_string(choose(cells));
        const std::string gift = left.empty() ? "-" : choose(left);
        std::cerr << "info gifts " + std::to_string(left.size()) + "\n"; // what it thinks, for its record
        std::cout << cell << ' ' << gift << std::endl; // endl flushes
    }
}
