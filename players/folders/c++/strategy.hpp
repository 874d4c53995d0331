#pragma once

#include <string>
#include <utility>
#include <vector>

/// A cell for the piece, and a piece for the opponent.
std::pair<std::string, std::string> choose(const std::string& board, const std::string& piece,
                                           const std::vector<std::string>& cells,
                                           const std::vector<std::string>& left);
