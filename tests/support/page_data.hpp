#pragma once
/// Reads the data of a report's page.

#include <zlib.h>

#include <tests/support/testing.hpp>

namespace tuner::testing {

inline std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  if (from == std::string::npos) return {};
  return text.substr(from + begin.size(), text.find(end, from + begin.size()) - from - begin.size());
}

inline std::string data_text_of(const std::string& page) {
  const std::string packed = between(page, "<script type=\"text/plain\" id=\"data\">", "</script>");
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  for (std::size_t i = 0; i < packed.size() && packed[i] != '='; ++i) {
    bits = bits << 6 | static_cast<unsigned>(digits.find(packed[i]));
    if (i % 4 > 0) bytes += static_cast<char>(bits >> (6 - 2 * (i % 4)));
  }
  std::string text(16 << 20, '\0');
  uLongf size = text.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(text.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                       bytes.size()),
            Z_OK);
  text.resize(size);
  return text;
}

}  // namespace tuner::testing
