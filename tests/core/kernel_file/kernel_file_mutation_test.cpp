#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/core/space/enumerated_space.hpp>

#include <random>

#include <tests/core/kernel_texts.hpp>

namespace tuner {
namespace {

/// One random edit: changes a byte, removes, doubles or moves a piece, or inserts a token of the language.
std::string mutated(std::string text, std::mt19937_64& random) {
  static const char* const tokens[] = {"#pragma tuner ",
                                       "\\\n",
                                       "\n",
                                       "(",
                                       ")",
                                       "{",
                                       "}",
                                       "[",
                                       "]",
                                       ",",
                                       ":",
                                       "=",
                                       "==",
                                       "<",
                                       "/",
                                       "%",
                                       "<<",
                                       "not",
                                       "in",
                                       "and",
                                       "sizeof",
                                       "min(",
                                       "//",
                                       "/*",
                                       "\"",
                                       "'",
                                       "0",
                                       "-1",
                                       "99999999999999999999",
                                       "n",
                                       "block",
                                       "T",
                                       "load",
                                       "launch x",
                                       "when",
                                       "\xEF\xBB\xBF",
                                       "\r\n"};
  const auto below = [&](std::size_t bound) { return bound == 0 ? 0 : static_cast<std::size_t>(random() % bound); };
  const std::size_t at = below(text.size());
  const std::size_t length = 1 + below(std::min<std::size_t>(40, text.size() - at));
  const std::string piece = text.substr(at, length);
  switch (below(5)) {
    case 0:
      if (!text.empty()) text[at] = static_cast<char>(below(4) == 0 ? below(256) : 32 + below(95));
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.insert(below(text.size()), piece);
      break;
    case 3:
      text.erase(at, length).insert(below(text.size()), piece);
      break;
    default:
      text.insert(at, tokens[below(std::size(tokens))]);
  }
  return text;
}

TEST(KernelFileMutations, AreAcceptedOrRefusedWithAPlaceAndNothingElse) {
  std::mt19937_64 random(20240607);
  int accepted = 0;
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string text = kVectorAdd;
    for (std::size_t edits = 1 + random() % 4; edits > 0; --edits) text = mutated(std::move(text), random);
    try {
      parse(text);
      ++accepted;
    } catch (const SpecError& error) {
      EXPECT_GE(error.location().line, 1) << error.what() << "\n" << text;
      EXPECT_GE(error.location().column, 1) << error.what() << "\n" << text;
      ++refused;
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 1000);
}

TEST(KernelFileMutations, ThatAreAcceptedCanBeEnumeratedOrSayWhyNot) {
  std::mt19937_64 random(7);
  int enumerated = 0;
  for (int i = 0; i < 1500; ++i) {
    try {
      const KernelSpec spec = parse(mutated(kVectorAdd, random));
      const EnumeratedSpace space = enumerate(spec, complete(spec, {}), {});
      for (EnumeratedSpace::Index at = 0; at < space.size(); ++at) {
        const Configuration configuration = space.configuration(at);
        ASSERT_EQ(why_invalid(spec, complete(spec, {}), {}, configuration), std::nullopt) << configuration.text();
      }
      enumerated += !space.empty();
    } catch (const Error&) {
      // no kernel, no default for a size, or a constraint that cannot be evaluated
    }
  }
  EXPECT_GT(enumerated, 100);
}

}  // namespace
}  // namespace tuner
