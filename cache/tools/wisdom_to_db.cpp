// Builds shipped databases from reviewed texts: wisdom_to_db FOLDER FILE.jsonl…

#include <cstdio>
#include <exception>
#include <filesystem>
#include <vector>

#include <cache/exchange/shipping.hpp>

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: %s FOLDER FILE.jsonl...\n", arguments[0]);
    return 2;
  }
  try {
    const std::vector<std::filesystem::path> texts(arguments + 2, arguments + count);
    for (const auto& file : tuner::cache::build_shipped_databases(texts, arguments[1])) {
      std::printf("%s\n", file.c_str());
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
