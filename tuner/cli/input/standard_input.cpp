#include <tuner/cli/input/standard_input.hpp>

#include <cstddef>
#include <iostream>

#include <cache/file/disk.hpp>

#include <tuner/error.hpp>

namespace tuner::cli {

std::string standard_input() {
  std::string text, piece(std::size_t{1} << 16, '\0');
  while (std::cin.read(piece.data(), static_cast<std::streamsize>(piece.size())) || std::cin.gcount() > 0) {
    text.append(piece, 0, static_cast<std::size_t>(std::cin.gcount()));
    if (text.size() > cache::kMaxTextBytes) throw Error("standard input: the text is too long");
  }
  return text;
}

}  // namespace tuner::cli
