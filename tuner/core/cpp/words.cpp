#include <tuner/core/cpp/words.hpp>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/values/characters.hpp>

namespace tuner {

bool is_word_of_cpp(std::string_view name) {
  constexpr std::string_view words =
      "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t "
      "class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue "
      "decltype default delete do double dynamic_cast else enum explicit export extern false float for friend "
      "goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private "
      "protected public register reinterpret_cast requires return short signed sizeof static static_assert "
      "static_cast struct switch template this thread_local throw true try typedef typeid typename union "
      "unsigned using virtual void volatile wchar_t while xor xor_eq";
  return is_identifier(name) && has_word(words, name);
}

}  // namespace tuner
