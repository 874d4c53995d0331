// Reads a question a line, and prints the answer of strategy.cpp.
#include <iostream>

#include "strategy.hpp"

int main() {
    std::string board, piece;
    while (std::cin >> board >> piece) {
        std::vector<std::string> cells, left;
        for (int i = 0; i < 16; i++) {
            if (board[i] == '.' && piece != "-") cells.push_back(std::to_string(i + 1));
            const std::string symbol(1, static_cast<char>('A' + i));
            if (board.find(symbol) == std::string::npos && piece != symbol) left.push_back(symbol);
        }
        if (cells.empty()) cells.push_back("-");
        if (left.empty()) left.push_back("-");
        const auto [cell, gift] = choose(board, piece, cells, left);
        std::cout << cell << ' ' << gift << std::endl;
    }
}
