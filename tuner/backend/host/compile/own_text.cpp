#include <tuner/backend/host/compile/own_text.hpp>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/values/characters.hpp>

namespace tuner::host {
namespace {

/// The place after `(…)` if that begins at \p at, else \p at.
std::size_t skip_parentheses(std::string_view text, std::size_t at) {
  at = skip_space(text, at);
  return text.substr(at, 1) == "(" ? std::min(after_brackets(text, at), text.size()) : at;
}

/// A part of a text, and what takes its place.
struct Replaced {
  std::size_t end = 0;  ///< after it
  std::string text;     ///< empty: it stays
};

/// Whether \p word gives a variable an alignment. Its argument follows.
bool is_alignment(std::string_view word) { return word == "__align__" || word == "alignas" || word == "__attribute__"; }

/// Where the declaration at \p begin ends: at its `;`, or at \p limit. Npos if it has a body or an initialiser.
std::size_t end_of_declaration(std::string_view code, std::size_t begin, std::size_t limit) {
  for (std::size_t at = begin; at < limit; ++at) {
    if (code[at] == ';') return at;
    if (code[at] == '{' || code[at] == '=') return npos;
    if (code[at] == '(' || code[at] == '[') at = std::min(after_brackets(code, at), limit) - 1;
  }
  return limit == code.size() ? npos : limit;
}

/// \p declarator, `T name[]`, as a reference: `T (&name)[]`. Empty if it is not an array without a size.
std::string as_reference(std::string_view declarator) {
  std::size_t bracket = 0;
  while (bracket < declarator.size() && declarator[bracket] != '[') {
    const char c = declarator[bracket];
    const std::size_t end = c == '('   ? after_brackets(declarator, bracket)
                            : c == '<' ? after_angles(declarator, bracket)
                                       : bracket + 1;
    bracket = std::min(end, declarator.size());
  }
  if (bracket == declarator.size() || declarator.substr(skip_space(declarator, bracket + 1), 1) != "]") return {};
  std::size_t end = before_space(declarator, bracket).size(), begin = end - word_before(declarator, end).size();
  if (begin == end) return {};
  for (std::string_view before = before_space(declarator, begin); before.ends_with("##");) {  // `name##_bytes[]`
    before = before_space(before, before.size() - 2);
    begin = before.size() - word_before(before, before.size()).size();
    before = before_space(declarator, begin);
  }
  return std::string(declarator.substr(0, begin)) + "(&" + std::string(declarator.substr(begin, end - begin)) + ')' +
         std::string(declarator.substr(bracket));
}

/// The words of a declaration, sorted.
struct Declaration {
  bool is_shared = false, is_extern = false;
  std::string type;     // and declarators
  std::string aligned;  // the same with the alignment
};

Declaration declaration_of(std::string_view text, const SharedMacros& macros) {
  Declaration all;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view word = word_at(text, at);
    std::size_t next = at + std::max<std::size_t>(word.size(), 1);
    const auto macro = macros.find(word);
    if (word == "extern" || word == "__shared__") {
      (word == "extern" ? all.is_extern : all.is_shared) = true;
    } else if (macro != macros.end()) {
      all.is_shared = true;
      all.is_extern = all.is_extern || macro->second.is_extern;
      for (std::string* const to : {&all.type, &all.aligned}) *to += macro->second.type + ' ';
      next = skip_parentheses(text, next);
    } else if (is_alignment(word)) {
      next = skip_parentheses(text, next);
      all.aligned += text.substr(at, next - at);
    } else {
      const std::size_t continued = continuation_at(text, at);
      if (continued > 0) next = at + continued;
      // The caller keeps the lines.
      const std::string_view kept = continued > 0 || text[at] == '\n' ? " " : text.substr(at, next - at);
      for (std::string* const to : {&all.type, &all.aligned}) *to += kept;
    }
    at = next;
  }
  return all;
}

/// The declaration `extern __shared__ [alignment] T name[];` that begins at \p begin and ends before \p limit. Its
/// words may have any order that C++ allows. \p outside: it may be outside of all functions, where it may be repeated.
Replaced dynamic_array(std::string_view code, std::size_t begin, std::size_t limit, bool outside,
                       const SharedMacros& macros) {
  const std::size_t end = end_of_declaration(code, begin, limit);
  if (end == npos) return {};
  const Declaration all = declaration_of(code.substr(begin, end - begin), macros);
  if (!all.is_shared || !all.is_extern) return {};
  // thread_local, because each worker thread has its own dynamic shared memory, which never moves.
  std::string text;
  for (const std::string_view declarator : at_commas(all.type)) {
    const std::string reference = as_reference(declarator);
    if (reference.empty()) {
      const bool is_definition = code.substr(end, 1) == ";" && !trimmed(all.type).empty();
      return {end, is_definition ? "__shared__ " + std::string(trimmed(all.aligned)) : std::string()};
    }
    text += !text.empty() ? ", " : outside ? "extern __tuner_dynamic " : "static thread_local ";
    text += std::string(trimmed(reference)) + (outside ? " __tuner_dynamic_name" : " = ::__tuner_dynamic_shared()");
  }
  return {end, text};
}

/// The declaration that a macro with the text \p body stands for; not shared for other macros.
Declaration meaning_of(std::string_view body, const SharedMacros& macros) {
  Declaration meaning = declaration_of(body, macros);
  const bool is_type = meaning.type.find_first_of("[](){};=,#\\") == std::string::npos;
  if (!is_type) meaning.is_shared = false;
  return meaning;
}

/// The beginning of the body of the kernel whose `__launch_bounds__` or `__cluster_dims__` begins at \p at and has its
/// bracket at \p open. Npos for a prototype, and where a directive may decide whether they hold.
std::size_t body_after_attribute(std::string_view code, std::size_t at, std::size_t open) {
  const std::size_t arguments = code.find('(', after_brackets(code, open));
  if (arguments == npos) return npos;
  const std::size_t end = code.find_first_of(";{", after_brackets(code, arguments));
  if (end == npos || code[end] == ';') return npos;
  const std::size_t global = code.rfind("__global__", at);
  const bool is_in_head = global != npos && code.substr(global, at - global).find_first_of(";{}") == npos;
  const std::size_t head = is_in_head ? global : at;
  return code.substr(head, end - head).find('#') == npos ? end + 1 : npos;
}

/// The register NAME of `"mov.u32 %0, %%NAME;"`, if \p literal is nothing else; else empty.
std::string register_of(std::string_view literal) {
  if (literal.size() < 2 || literal.front() != '"' || literal.find('"', 1) != literal.size() - 1) return {};
  std::string kept(literal.substr(1, literal.size() - 2));
  for (const std::string_view blank : {"\\n", "\\t"})
    for (std::size_t at = kept.find(blank); at != npos; at = kept.find(blank)) kept.replace(at, blank.size(), "  ");
  std::string_view ptx = kept;
  for (const std::string_view word : {"mov.u32 ", "%0", ",", "%%"}) {
    ptx = ptx.substr(skip_space(ptx, 0));
    if (!ptx.starts_with(word)) return {};
    ptx.remove_prefix(word.size());
  }
  const std::string_view name = word_at(ptx, 0);
  return trimmed(ptx.substr(name.size())) == ";" ? std::string(name) : std::string();
}

/// Whether \p literals are string literals whose PTX is only blanks and comments.
bool is_without_instruction(std::string_view literals) {
  const std::string kept = code_of(literals, Literals::kept);
  std::string ptx;
  bool is_inside = false;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] == '"') {
      is_inside = !is_inside;
    } else if (is_inside && kept[i] == '\\') {
      ++i;
      ptx += kept.substr(i, 1) == "n" ? '\n' : kept.substr(i, 1) == "t" ? '\t' : '?';
    } else if (is_inside) {
      ptx += kept[i];
    } else if (!is_space(kept[i])) {
      return false;
    }
  }
  return trimmed(code_of(ptx)).empty();  // PTX has the comments of C++
}

/// `asm volatile("…" : … )`, whose word `asm` ends at \p at. Without an instruction, it is a barrier for the compiler.
/// A lane's number and masks are computed. Other PTX ends the run, because a kernel may have it in branches that it
/// does not take.
Replaced inline_ptx(std::string_view source, std::string_view code, std::size_t at) {
  struct Register {
    std::string_view name, value;
  };
  constexpr Register registers[] = {{"laneid", "::tuner_host::lane()"},
                                    {"lanemask_lt", "(1u << ::tuner_host::lane()) - 1u"},
                                    {"lanemask_le", "(2u << ::tuner_host::lane()) - 1u"},
                                    {"lanemask_eq", "1u << ::tuner_host::lane()"},
                                    {"lanemask_ge", "~((1u << ::tuner_host::lane()) - 1u)"},
                                    {"lanemask_gt", "~((2u << ::tuner_host::lane()) - 1u)"}};
  for (std::string_view word = "volatile"; word == "volatile" || word == "__volatile__";) {
    at = skip_space(code, at);
    word = word_at(code, at);
    at += word.size();
  }
  if (code.substr(at, 1) != "(") return {};
  const std::size_t end = after_brackets(code, at);
  if (end == npos) return {};
  const Replaced other{end, "::__tuner_inline_ptx()"};
  const std::size_t colon = skip_space(code, at + 1);  // literals are blanks there
  if (is_without_instruction(source.substr(at + 1, colon - at - 1)))
    return {end, "__asm__ volatile(\"\" ::: \"memory\")"};
  const std::size_t open = code.find('(', at + 1);
  if (code.substr(colon, 1) != ":" || open == npos || open >= end) return other;
  const std::size_t close = after_brackets(code, open);
  const std::string_view constraint = trimmed(source.substr(colon + 1, open - colon - 1));
  if (constraint != "\"=r\"" || code.substr(skip_space(code, close), 1) == ",") return other;
  const std::string name = register_of(trimmed(source.substr(at + 1, colon - at - 1)));
  for (const Register& one : registers)
    if (name == one.name) return {end, std::string(source.substr(open, close - open)) + " = " + std::string(one.value)};
  return other;
}

}  // namespace

SharedMacros shared_macros(const std::string& source, const Includes& includes) {
  SharedMacros macros;
  const auto look = [&macros](const std::string& text) {
    if (text.find("__shared__") == std::string::npos) return;
    const std::string code = code_of(text);
    for (const DirectiveLine& line : directives_of(code)) {
      if (line.name() != "define") continue;
      const std::string_view name = word_at(line.rest(), 0);
      const std::size_t body =
          line.rest().substr(name.size()).starts_with("(") ? after_brackets(line.rest(), name.size()) : name.size();
      if (body == npos) continue;
      const Declaration meaning = meaning_of(line.rest().substr(body), macros);
      if (meaning.is_shared)
        macros.insert_or_assign(std::string(name), SharedMacro{meaning.is_extern, std::string(trimmed(meaning.type))});
    }
  };
  for (const IncludedFile& file : includes.files) look(file.text);
  look(source);
  return macros;
}

std::string own_text(const std::string& source, const SharedMacros& macros) {
  const std::string code = code_of(source);  // words in comments and literals are not the kernel's
  std::string result;
  std::size_t copied = 0;
  std::size_t directive = 0;  // the end of the current one
  const auto replace = [&](std::size_t begin, std::size_t end, std::string_view text) {
    result.append(source, copied, begin - copied);
    result += text;
    for (std::size_t i = begin; i < end; ++i) {
      if (source[i] == '\n') result += begin < directive ? "\\\n" : "\n";  // keeps the numbers of the lines below
    }
    copied = end;
  };
  std::size_t body = std::string::npos;  // of a kernel with attributes
  std::string required;                  // what its beginning requires of a launch
  std::vector<bool> scopes;              // of each open brace: whether it is not a namespace's
  for (std::size_t at = 0; at < code.size();) {
    if (at == body) replace(at, at, std::exchange(required, {}));
    if (const auto line = directive_at(code, at)) directive = line->end;
    const std::string_view word = word_at(code, at);
    std::size_t end = at + std::max<std::size_t>(word.size(), 1);
    const auto is_shared = [&](std::string_view one) { return one == "__shared__" || macros.contains(one); };
    if (at >= directive && code[at] == '{') {
      const std::string_view head = trimmed(statement_before(code, at));
      scopes.push_back(head != "extern" && (!has_word(head, "namespace") || head.find('(') != npos));
    } else if (at >= directive && code[at] == '}') {
      if (!scopes.empty()) scopes.pop_back();
    } else if (word == "extern" || word == "volatile" || is_shared(word)) {
      // A macro may be used anywhere.
      const bool in_macro = at < directive, outside = in_macro || std::ranges::find(scopes, true) == scopes.end();
      const Replaced array = dynamic_array(code, at, in_macro ? directive : code.size(), outside, macros);
      const std::size_t alignment = skip_space(code, end);
      if (!array.text.empty()) {
        replace(at, end = array.end, array.text);
      } else if (word == "__shared__" && word_at(code, alignment) == "alignas") {
        // g++ takes it only before the other words.
        const std::size_t after = skip_parentheses(code, alignment + word_at(code, alignment).size());
        replace(at, after, source.substr(alignment, after - alignment) + " __shared__");
        end = after;
      }
    } else if (word == "static" && is_shared(word_at(code, skip_space(code, end)))) {
      replace(at, end, "");
    } else if ((word == "__launch_bounds__" || word == "__cluster_dims__") && at >= directive) {
      if (const std::size_t open = skip_space(code, end); code.substr(open, 1) == "(") {
        std::string arguments(code.substr(open, after_brackets(code, open) - open));
        std::ranges::replace(arguments, '\n', ' ');  // the lines below keep their numbers
        if (const std::size_t begin = body_after_attribute(code, at, open); begin != std::exchange(body, begin))
          required.clear();
        required +=
            (word == "__cluster_dims__" ? " ::__tuner_require_cluster" : " ::__tuner_require_bounds") + arguments + ';';
      }
    } else if (word == "asm" || word == "__asm__" || word == "__asm") {
      if (const Replaced ptx = inline_ptx(source, code, end); !ptx.text.empty()) replace(at, end = ptx.end, ptx.text);
    } else if (word == "__noinline__") {
      replace(at, end, "__tuner_noinline__");
    }
    at = end;
  }
  return result.append(source, copied);
}

}  // namespace tuner::host
